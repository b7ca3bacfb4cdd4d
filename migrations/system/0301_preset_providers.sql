-- Built-in providers that owners have set in the dashboard stand beside those of their own.
alter table auth.custom_oauth_providers
  drop constraint if exists custom_oauth_providers_provider_type_check,
  add constraint custom_oauth_providers_provider_type_check check (provider_type in ('oauth2', 'oidc', 'preset'));
