package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"basalt/auth/limit"
	"basalt/auth/sso"
)

// SSOProvider is an identity provider as administrators see it.
type SSOProvider struct {
	ID uuid.UUID
	// ResourceID is a name that the administrator gives; empty is none.
	ResourceID       string
	Disabled         *bool
	EntityID         string
	MetadataXML      string
	MetadataURL      string
	AttributeMapping json.RawMessage
	NameIDFormat     string
	Domains          []string
	CreatedAt        time.Time
	UpdatedAt        time.Time
}

// SSOProviderChange is what an administrator says about an identity provider. In a change nil leaves as it is.
type SSOProviderChange struct {
	Type             string
	ResourceID       *string
	Disabled         *bool
	MetadataXML      string
	MetadataURL      string
	AttributeMapping *sso.Mapping
	// NameIDFormat is set to what is given, also to nothing.
	NameIDFormat string
	Domains      []string
}

const (
	maxDomain     = 253 // RFC 1035 §2.3.4
	maxDomains    = 1000
	maxResourceID = 256
	maxMapping    = 64 << 10

	// resourcePrefix begins the name of an identity provider in a path, in the place of its id.
	resourcePrefix = "resource_"

	ssoProviderColumns = `
    p.id,
    coalesce(p.resource_id, ''),
    p.disabled,
    s.entity_id,
    s.metadata_xml,
    coalesce(s.metadata_url, ''),
    coalesce(s.attribute_mapping, '{}'),
    coalesce(s.name_id_format, ''),
    array(
        select d.domain
        from auth.sso_domains d
        where d.sso_provider_id = p.id
        order by d.created_at, d.domain
    ),
    coalesce(p.created_at, 'epoch'),
    coalesce(p.updated_at, 'epoch')`

	ssoProvidersSelected = `
select` + ssoProviderColumns + `
from auth.sso_providers p
join auth.saml_providers s on s.sso_provider_id = p.id
where ($1::uuid is null or p.id = $1)
and ($2 = '' or lower(p.resource_id) = lower($2))
and ($3 = '' or starts_with(p.resource_id, $3))
order by p.created_at, p.id`

	insertSSOProvider = `
with made as (
    insert into auth.sso_providers (id, resource_id, disabled, created_at, updated_at)
    values ($1, $2, $3, $4, $4)
    returning id
)
insert into auth.saml_providers (
    id, sso_provider_id, entity_id, metadata_xml, metadata_url, attribute_mapping, name_id_format, created_at, updated_at
)
select gen_random_uuid(), id, $5, $6, $7, $8, $9, $4, $4
from made`

	insertSSODomains = `
insert into auth.sso_domains (id, sso_provider_id, domain, created_at, updated_at)
select gen_random_uuid(), $1, domain, $3, $3
from unnest($2::text[]) as wanted (domain)
where not exists (
    select
    from auth.sso_domains d
    where d.sso_provider_id = $1
    and lower(d.domain) = wanted.domain
)`

	deleteSSODomains = `
delete from auth.sso_domains
where sso_provider_id = $1
and lower(domain) <> all($2)`

	updateSSOProvider = `
update auth.sso_providers
set resource_id = case when $2 then $3 else resource_id end,
    disabled = coalesce($4, disabled),
    updated_at = $5
where id = $1`

	updateSAMLProvider = `
update auth.saml_providers
set metadata_xml = coalesce($2, metadata_xml),
    metadata_url = coalesce($3, metadata_url),
    attribute_mapping = coalesce($4, attribute_mapping),
    name_id_format = $5,
    updated_at = case when $2::text is null then updated_at else $6 end
where sso_provider_id = $1`

	deleteSSOProvider = `
delete from auth.sso_providers
where id = $1`
)

func scanSSOProvider(row pgx.CollectableRow) (SSOProvider, error) {
	var p SSOProvider
	err := row.Scan(&p.ID, &p.ResourceID, &p.Disabled, &p.EntityID, &p.MetadataXML, &p.MetadataURL, &p.AttributeMapping,
		&p.NameIDFormat, &p.Domains, &p.CreatedAt, &p.UpdatedAt)
	return p, err
}

func ssoProviderNotFound() *Error {
	return absent(CodeSSOProviderNotFound, "SSO Identity Provider not found")
}

// AdminSSOProviders lists all identity providers, or those with a resource id, or with one that begins so.
func (s *Service) AdminSSOProviders(ctx context.Context, resourceID, resourcePrefix string) ([]SSOProvider, error) {
	if !isText(resourceID + resourcePrefix) {
		return []SSOProvider{}, nil // no name is like that
	}
	rows, err := s.pool.Query(ctx, ssoProvidersSelected, nil, resourceID, resourcePrefix)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, scanSSOProvider)
}

// AdminSSOProvider finds an identity provider by its id, or by `resource_` and its resource id.
func (s *Service) AdminSSOProvider(ctx context.Context, name string) (*SSOProvider, error) {
	id, resource, refusal := ssoProviderName(name)
	if refusal != nil {
		return nil, refusal
	}
	return oneSSOProvider(s.pool.Query(ctx, ssoProvidersSelected, id, resource, ""))
}

func oneSSOProvider(rows pgx.Rows, err error) (*SSOProvider, error) {
	if err != nil {
		return nil, err
	}
	p, err := pgx.CollectOneRow(rows, scanSSOProvider)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, ssoProviderNotFound()
	}
	if err != nil {
		return nil, err
	}
	return &p, nil
}

func ssoProviderName(name string) (id *uuid.UUID, resource string, refusal *Error) {
	if resource, found := strings.CutPrefix(name, resourcePrefix); found && resource != "" && checkResourceID(resource) == nil {
		return nil, resource, nil
	}
	parsed, err := uuid.Parse(name)
	if err != nil || len(name) != 36 {
		return nil, "", ssoProviderNotFound()
	}
	return &parsed, "", nil
}

// AdminCreateSSOProvider takes in an identity provider.
func (s *Service) AdminCreateSSOProvider(ctx context.Context, caller Caller, in SSOProviderChange, record Record[*SSOProvider]) (*SSOProvider, error) {
	p, err := s.createSSOProvider(ctx, in, record)
	s.event(caller, "admin_sso_provider_create", uuid.Nil, err)
	return p, err
}

func (s *Service) createSSOProvider(ctx context.Context, in SSOProviderChange, record Record[*SSOProvider]) (*SSOProvider, error) {
	switch {
	case in.Type != "saml":
		return nil, refuse(CodeValidationFailed, "Only 'saml' supported for SSO provider type")
	case in.MetadataURL == "" && in.MetadataXML == "":
		return nil, refuse(CodeValidationFailed, "Either metadata_xml or metadata_url must be set")
	}
	domains, mapping, refusal := in.check()
	if refusal != nil {
		return nil, refusal
	}
	text, metadata, err := s.givenMetadata(ctx, in)
	if err != nil {
		return nil, err
	}
	if mapping == nil {
		mapping = json.RawMessage(`{}`)
	}
	var resource *string
	if in.ResourceID != nil {
		resource = optionalText(*in.ResourceID)
	}
	id, at := uuid.New(), now()
	batch := &pgx.Batch{}
	batch.Queue(insertSSOProvider, id, resource, in.Disabled, at, metadata.EntityID(), string(text), optionalText(in.MetadataURL),
		mapping, optionalText(in.NameIDFormat))
	batch.Queue(insertSSODomains, id, domains, at)
	return s.writeSSOProvider(ctx, batch, id, metadata.EntityID(), record)
}

// AdminUpdateSSOProvider changes an identity provider. It stays the same one: its entity id does not change.
func (s *Service) AdminUpdateSSOProvider(ctx context.Context, caller Caller, name string, in SSOProviderChange, record Record[*SSOProvider]) (*SSOProvider, error) {
	p, err := s.updateSSOProvider(ctx, name, in, record)
	s.event(caller, "admin_sso_provider_update", uuid.Nil, err)
	return p, err
}

func (s *Service) updateSSOProvider(ctx context.Context, name string, in SSOProviderChange, record Record[*SSOProvider]) (*SSOProvider, error) {
	domains, mapping, refusal := in.check()
	if refusal != nil {
		return nil, refusal
	}
	p, err := s.AdminSSOProvider(ctx, name)
	if err != nil {
		return nil, err
	}
	var xml *string
	if in.MetadataXML != "" || in.MetadataURL != "" {
		text, metadata, err := s.givenMetadata(ctx, in)
		if err != nil {
			return nil, err
		}
		if metadata.EntityID() != p.EntityID {
			return nil, refuse(CodeSAMLEntityIDMismatch, fmt.Sprintf("SAML Metadata can be updated only if the EntityID matches for the provider; expected '%s' but got '%s'", p.EntityID, metadata.EntityID()))
		}
		given := string(text)
		xml = &given
	}
	var resource *string
	if in.ResourceID != nil {
		resource = optionalText(*in.ResourceID)
	}
	var newMapping *json.RawMessage
	if mapping != nil {
		newMapping = &mapping
	}
	at := now()
	batch := &pgx.Batch{}
	batch.Queue(updateSSOProvider, p.ID, in.ResourceID != nil, resource, in.Disabled, at)
	batch.Queue(updateSAMLProvider, p.ID, xml, optionalText(in.MetadataURL), newMapping, optionalText(in.NameIDFormat), at)
	if in.Domains != nil {
		batch.Queue(deleteSSODomains, p.ID, domains)
		batch.Queue(insertSSODomains, p.ID, domains, at)
	}
	return s.writeSSOProvider(ctx, batch, p.ID, p.EntityID, record)
}

// writeSSOProvider runs a batch and reads what has become of the identity provider.
func (s *Service) writeSSOProvider(ctx context.Context, batch *pgx.Batch, id uuid.UUID, entityID string, record Record[*SSOProvider]) (*SSOProvider, error) {
	var p *SSOProvider
	batch.Queue(ssoProvidersSelected, id, "", "").Query(func(rows pgx.Rows) error {
		var err error
		p, err = oneSSOProvider(rows, nil)
		return err
	})
	_, err := recorded(ctx, s, record, func(db limit.Sender) (*SSOProvider, error) {
		err := db.SendBatch(ctx, batch).Close()
		return p, err
	})
	switch {
	case isUniqueViolation(err, "saml_providers_entity_id_key"):
		return nil, unprocessable(CodeSAMLIdPAlreadyExists, fmt.Sprintf("SAML Identity Provider with this EntityID (%s) already exists", entityID))
	case isUniqueViolation(err, "sso_domains_domain_idx"):
		return nil, refuse(CodeSSODomainAlreadyExists, "An SSO Domain is already assigned to another SSO identity provider")
	case isUniqueViolation(err, "sso_providers_resource_id_idx"):
		return nil, refuse(CodeConflict, "Another SSO identity provider has this resource_id")
	case err != nil:
		return nil, saveFailed("Database error saving the SSO provider", err)
	}
	return p, nil
}

// AdminDeleteSSOProvider removes an identity provider. Its users stay, and can sign in no more.
func (s *Service) AdminDeleteSSOProvider(ctx context.Context, caller Caller, name string, record Record[*SSOProvider]) (*SSOProvider, error) {
	p, err := s.AdminSSOProvider(ctx, name)
	if err == nil {
		batch := &pgx.Batch{}
		batch.Queue(deleteSSOProvider, p.ID)
		_, err = recorded(ctx, s, record, func(db limit.Sender) (*SSOProvider, error) { return p, db.SendBatch(ctx, batch).Close() })
		err = saveFailed("Database error deleting the SSO provider", err)
	}
	s.event(caller, "admin_sso_provider_delete", uuid.Nil, err)
	return p, err
}

// givenMetadata reads the metadata that an administrator gives or names.
func (s *Service) givenMetadata(ctx context.Context, in SSOProviderChange) ([]byte, *sso.Metadata, error) {
	if in.MetadataURL != "" {
		return s.fetchMetadata(ctx, in.MetadataURL)
	}
	metadata, err := sso.ParseMetadata([]byte(in.MetadataXML))
	if err != nil {
		return nil, nil, refuse(CodeValidationFailed, err.Error())
	}
	return []byte(in.MetadataXML), metadata, nil
}

// check refuses what no identity provider can have; it gives the domains in lower case, and the mapping as JSON.
func (in SSOProviderChange) check() (domains []string, mapping json.RawMessage, refusal *Error) {
	if in.MetadataURL != "" && in.MetadataXML != "" {
		return nil, nil, refuse(CodeValidationFailed, "Only one of metadata_xml or metadata_url needs to be set")
	}
	if u, err := url.Parse(in.MetadataURL); in.MetadataURL != "" && (err != nil || u.Host == "" || u.User != nil) {
		return nil, nil, refuse(CodeValidationFailed, "metadata_url is not a valid URL")
	} else if in.MetadataURL != "" && u.Scheme != "https" {
		return nil, nil, refuse(CodeValidationFailed, "metadata_url is not a HTTPS URL")
	}
	if in.NameIDFormat != "" && !slices.Contains(sso.NameIDFormats(), in.NameIDFormat) {
		return nil, nil, refuse(CodeValidationFailed, "name_id_format must be unspecified or one of "+strings.Join(sso.NameIDFormats(), ", "))
	}
	if in.ResourceID != nil && *in.ResourceID != "" {
		if refusal := checkResourceID(*in.ResourceID); refusal != nil {
			return nil, nil, refusal
		}
	}
	if len(in.Domains) > maxDomains {
		return nil, nil, refuse(CodeValidationFailed, fmt.Sprintf("domains must not be more than %d", maxDomains))
	}
	domains = []string{}
	for _, text := range in.Domains {
		domain := strings.ToLower(strings.TrimSpace(text))
		if len(domain) > maxDomain || !plausibleDomain(domain) || strings.ContainsFunc(domain, notOfDomains) {
			return nil, nil, refuse(CodeValidationFailed, fmt.Sprintf("%q is not a domain", text))
		}
		if !slices.Contains(domains, domain) {
			domains = append(domains, domain)
		}
	}
	if in.AttributeMapping != nil && in.AttributeMapping.Keys != nil {
		text, err := json.Marshal(in.AttributeMapping)
		if err != nil {
			return nil, nil, refuse(CodeValidationFailed, "attribute_mapping is not valid")
		}
		if _, refusal := readMetadata("attribute_mapping", text, maxMapping); refusal != nil {
			return nil, nil, refusal
		}
		mapping = text
	}
	return domains, mapping, nil
}

func notOfDomains(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || r == unicode.ReplacementChar || strings.ContainsRune(`/\@:?#<>"`, r)
}

func checkResourceID(text string) *Error {
	if len(text) > maxResourceID || strings.ContainsFunc(text, func(r rune) bool { return outsideTokens(r) && r != '.' && r != ':' }) {
		return refuse(CodeValidationFailed, "resource_id can only contain letters, digits, dashes, underscores, dots and colons, at most 256")
	}
	return nil
}
