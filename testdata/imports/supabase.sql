--
-- PostgreSQL database dump
--

\restrict 7yW3Vp0QpXwq1mZs2g

SET statement_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET session_replication_role = replica;

CREATE FUNCTION public.greet() RETURNS text
    LANGUAGE sql
    AS $_$
COPY auth.users (id, email) FROM stdin;
INSERT INTO auth.users (id, email) VALUES ('7c9e6679-7425-40de-944b-000000000666', 'mallory@example.com');
select $$hello$$
$_$;

/* INSERT INTO auth.users (id, email) VALUES ('7c9e6679-7425-40de-944b-000000000666', 'mallory@example.com'); */

COPY auth.identities (provider_id, user_id, identity_data, provider, last_sign_in_at, created_at, updated_at, id) FROM stdin;
7c9e6679-7425-40de-944b-000000000001	7c9e6679-7425-40de-944b-000000000001	{"sub": "7c9e6679-7425-40de-944b-000000000001", "email": "ada@example.com", "email_verified": true, "phone_verified": false}	email	2024-05-01 10:00:00.123456+00	2024-05-01 10:00:00.123456+00	2024-05-01 10:00:00.123456+00	7c9e6679-7425-40de-944b-000000000201
9001	7c9e6679-7425-40de-944b-000000000001	{"sub": "9001", "email": "ada@example.com", "user_name": "ada; 'l'"}	github	2024-05-01 10:00:00.123456+00	2024-05-01 10:00:00.123456+00	2024-05-01 10:00:00.123456+00	7c9e6679-7425-40de-944b-000000000202
7c9e6679-7425-40de-944b-000000000002	7c9e6679-7425-40de-944b-000000000002	{"sub": "7c9e6679-7425-40de-944b-000000000002", "email": "bob@example.com"}	email	2024-05-01 10:00:00.123456+00	2024-05-01 10:00:00.123456+00	2024-05-01 10:00:00.123456+00	7c9e6679-7425-40de-944b-000000000203
7c9e6679-7425-40de-944b-000000000003	7c9e6679-7425-40de-944b-000000000003	{"sub": "7c9e6679-7425-40de-944b-000000000003", "phone": "15551234567"}	phone	2024-05-01 10:00:00.123456+00	2024-05-01 10:00:00.123456+00	2024-05-01 10:00:00.123456+00	7c9e6679-7425-40de-944b-000000000204
108000000000000000009	7c9e6679-7425-40de-944b-000000000007	{"sub": "108000000000000000009", "email": "grace@example.com"}	google	2024-05-01 10:00:00.123456+00	2024-05-01 10:00:00.123456+00	2024-05-01 10:00:00.123456+00	7c9e6679-7425-40de-944b-000000000205
7c9e6679-7425-40de-944b-000000000008	7c9e6679-7425-40de-944b-000000000008	{"sub": "7c9e6679-7425-40de-944b-000000000008", "email": "bob@example.com"}	email	2024-05-01 10:00:00.123456+00	2024-05-01 10:00:00.123456+00	2024-05-01 10:00:00.123456+00	7c9e6679-7425-40de-944b-000000000206
\.


COPY auth.mfa_factors (id, user_id, friendly_name, factor_type, status, created_at, updated_at, secret, phone, last_challenged_at, web_authn_credential, web_authn_aaguid) FROM stdin;
7c9e6679-7425-40de-944b-000000000301	7c9e6679-7425-40de-944b-000000000001	phone app	totp	verified	2024-05-01 10:00:00.123456+00	2024-05-01 10:00:00.123456+00	JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP	\N	\N	\N	\N
\.


COPY auth.users (instance_id, id, aud, role, email, encrypted_password, email_confirmed_at, invited_at, confirmation_token, confirmation_sent_at, recovery_token, recovery_sent_at, email_change_token_new, email_change, email_change_sent_at, last_sign_in_at, raw_app_meta_data, raw_user_meta_data, is_super_admin, created_at, updated_at, phone, phone_confirmed_at, phone_change, phone_change_token, phone_change_sent_at, email_change_token_current, email_change_confirm_status, banned_until, reauthentication_token, reauthentication_sent_at, is_sso_user, deleted_at, is_anonymous) FROM stdin;
00000000-0000-0000-0000-000000000000	7c9e6679-7425-40de-944b-000000000001	authenticated	authenticated	ada@example.com	$2a$10$qpN89lxA7hU71KlCq35QCe5LrD7jAn7BQJjQL/a.4GW2uBCiA/U0q	2024-05-01 10:00:00.123456+00	\N		\N		\N			\N	2024-05-01 10:00:00.123456+00	{"provider": "email", "providers": ["email"]}	{"name": "O'Hara\\n\\t\\\\"}	\N	2024-05-01 10:00:00.123456+00	2024-05-01 10:00:00.123456+00	\N	\N			\N		0	\N		\N	f	\N	f
00000000-0000-0000-0000-000000000000	7c9e6679-7425-40de-944b-000000000002	authenticated	authenticated	bob@example.com	$2a$10$qpN89lxA7hU71KlCq35QCe5LrD7jAn7BQJjQL/a.4GW2uBCiA/U0q	\N	\N		\N		\N			\N	\N	{"provider": "email", "providers": ["email"]}	{"name": "O'Hara\\n\\t\\\\"}	\N	2024-05-01 10:00:00.123456+00	2024-05-01 10:00:00.123456+00	\N	\N			\N		0	infinity		\N	f	\N	f
00000000-0000-0000-0000-000000000000	7c9e6679-7425-40de-944b-000000000003	authenticated	authenticated	\N	\N	\N	\N		\N		\N			\N	2024-05-01 10:00:00.123456+00	{"provider": "phone", "providers": ["phone"]}	{"name": "O'Hara\\n\\t\\\\"}	\N	2024-05-01 10:00:00.123456+00	2024-05-01 10:00:00.123456+00	15551234567	2024-05-01 10:00:00.123456+00			\N		0	\N		\N	f	\N	f
00000000-0000-0000-0000-000000000000	7c9e6679-7425-40de-944b-000000000004	authenticated	authenticated	ada@example.com	\N	2024-05-01 10:00:00.123456+00	\N		\N		\N			\N	2024-05-01 10:00:00.123456+00	{"provider": "sso:21648a9d-8d5a-4555-a9d1-d6375dc14e92", "providers": ["sso:21648a9d-8d5a-4555-a9d1-d6375dc14e92"]}	{"name": "O'Hara\\n\\t\\\\"}	\N	2024-05-01 10:00:00.123456+00	2024-05-01 10:00:00.123456+00	\N	\N			\N		0	\N		\N	t	\N	f
00000000-0000-0000-0000-000000000000	7c9e6679-7425-40de-944b-000000000005	authenticated	authenticated	\N	\N	\N	\N		\N		\N			\N	2024-05-01 10:00:00.123456+00	{}	{}	\N	2024-05-01 10:00:00.123456+00	2024-05-01 10:00:00.123456+00	\N	\N			\N		0	\N		\N	f	\N	t
00000000-0000-0000-0000-000000000000	7c9e6679-7425-40de-944b-000000000006	authenticated	authenticated	3a7bd3e2360a3d29eea436fcfb7e44c735d117c42d1c1835420b6b9942dd4f1b	\N	2024-05-01 10:00:00.123456+00	\N		\N		\N			\N	2024-05-01 10:00:00.123456+00	{"provider": "email", "providers": ["email"]}	{"name": "O'Hara\\n\\t\\\\"}	\N	2024-05-01 10:00:00.123456+00	2024-05-01 10:00:00.123456+00	\N	\N			\N		0	\N		\N	f	2024-05-01 10:00:00.123456+00	f
00000000-0000-0000-0000-000000000000	7c9e6679-7425-40de-944b-000000000007	authenticated	authenticated	grace@example.com		2024-05-01 10:00:00.123456+00	\N		\N		\N			\N	2024-05-01 10:00:00.123456+00	{"provider": "google", "providers": ["google"]}	{"name": "O'Hara\\n\\t\\\\"}	\N	2024-05-01 10:00:00.123456+00	2024-05-01 10:00:00.123456+00	\N	\N			\N		0	\N		\N	f	\N	f
00000000-0000-0000-0000-000000000000	7c9e6679-7425-40de-944b-000000000008	authenticated	authenticated	bob@example.com	$2a$10$qpN89lxA7hU71KlCq35QCe5LrD7jAn7BQJjQL/a.4GW2uBCiA/U0q	2024-05-01 10:00:00.123456+00	\N		\N		\N			\N	2024-05-01 10:00:00.123456+00	{"provider": "email", "providers": ["email"]}	{"name": "O'Hara\\n\\t\\\\"}	\N	2024-05-01 10:00:00.123456+00	2024-05-01 10:00:00.123456+00	\N	\N			\N		0	\N		\N	f	\N	f
00000000-0000-0000-0000-000000000000	7c9e6679-7425-40de-944b-000000000009	authenticated	authenticated	greedy@example.com	$argon2id$v=19$m=4194304,t=2,p=1$c29tZXNhbHRzb21lc2FsdA$AAcOFRwjKjE4P0ZNVFtiaXB3foWMk5qhqK+2vcTL0tk	2024-05-01 10:00:00.123456+00	\N		\N		\N			\N	2024-05-01 10:00:00.123456+00	{"provider": "email", "providers": ["email"]}	{"name": "O'Hara\\n\\t\\\\"}	\N	2024-05-01 10:00:00.123456+00	2024-05-01 10:00:00.123456+00	\N	\N			\N		0	\N		\N	f	\N	f
00000000-0000-0000-0000-000000000000	7c9e6679-7425-40de-944b-000000000010	authenticated	authenticated	when@example.com	$2a$10$qpN89lxA7hU71KlCq35QCe5LrD7jAn7BQJjQL/a.4GW2uBCiA/U0q	2024-05-01 10:00:00.123456+00	\N		\N		\N			\N	2024-05-01 10:00:00.123456+00	{"provider": "email", "providers": ["email"]}	{"name": "O'Hara\\n\\t\\\\"}	\N	the day before yesterday	2024-05-01 10:00:00.123456+00	\N	\N			\N		0	\N		\N	f	\N	f
\.

COPY public.messages (id, text) FROM stdin;
1	COPY auth.users (id, email) FROM stdin;
2	INSERT INTO auth.users (id, email) VALUES ('7c9e6679-7425-40de-944b-000000000666', 'mallory@example.com');\n\\.
\.


-- a row that is cut short
COPY auth.users (id, email) FROM stdin;
7c9e6679-7425-40de-944b-000000000011
\.

\unrestrict 7yW3Vp0QpXwq1mZs2g
