package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"basalt/auth/sso"
)

// Codes of single sign-on.
const (
	CodeSAMLProviderDisabled    Code = "saml_provider_disabled"
	CodeSAMLRelayStateNotFound  Code = "saml_relay_state_not_found"
	CodeSAMLRelayStateExpired   Code = "saml_relay_state_expired"
	CodeSAMLIdPNotFound         Code = "saml_idp_not_found"
	CodeSAMLIdPAlreadyExists    Code = "saml_idp_already_exists"
	CodeSAMLAssertionNoUserID   Code = "saml_assertion_no_user_id"
	CodeSAMLAssertionNoEmail    Code = "saml_assertion_no_email"
	CodeSAMLMetadataFetchFailed Code = "saml_metadata_fetch_failed"
	CodeSAMLEntityIDMismatch    Code = "saml_entity_id_mismatch"
	CodeSSOProviderNotFound     Code = "sso_provider_not_found"
	CodeSSOProviderDisabled     Code = "sso_provider_disabled"
	CodeSSODomainAlreadyExists  Code = "sso_domain_already_exists"
)

// MethodSAML stands in `amr` for a sign-in by an identity provider that speaks SAML 2.0.
const MethodSAML = "sso/saml"

// SSOOptions are the settings of single sign-on.
type SSOOptions struct {
	// SAML speaks with the identity providers; nil switches single sign-on off.
	SAML *sso.ServiceProvider
	// IdPInitiated lets identity providers send users that have not begun here. Whoever can make a browser send a form
	// can so sign its user in as somebody else.
	IdPInitiated bool
	// Client fetches metadata, from addresses that the administrator names; nil reaches public ones.
	Client *http.Client
}

// MetadataPatience bounds a fetch of metadata.
const MetadataPatience = 5 * time.Second

const (
	connectionColumns = `
    p.id,
    coalesce(p.disabled, false),
    s.id,
    s.entity_id,
    s.metadata_xml,
    coalesce(s.metadata_url, ''),
    s.attribute_mapping,
    coalesce(s.name_id_format, ''),
    coalesce(s.updated_at, 'epoch')`

	connectionByID = `
select` + connectionColumns + `
from auth.sso_providers p
join auth.saml_providers s on s.sso_provider_id = p.id
where p.id = $1`

	connectionByDomain = `
select` + connectionColumns + `
from auth.sso_domains d
join auth.sso_providers p on p.id = d.sso_provider_id
join auth.saml_providers s on s.sso_provider_id = p.id
where lower(d.domain) = $1`

	connectionByEntity = `
select` + connectionColumns + `
from auth.saml_providers s
join auth.sso_providers p on p.id = s.sso_provider_id
where s.entity_id = $1`

	// claimRefresh lets one of many fetch, and nobody for a minute after that.
	claimRefresh = `
update auth.saml_providers
set updated_at = clock_timestamp()
where id = $1
and updated_at is not distinct from nullif($2, timestamptz 'epoch')
and (updated_at is null or updated_at < clock_timestamp() - interval '1 minute')`

	storeRefreshed = `
update auth.saml_providers
set metadata_xml = $2,
    updated_at = clock_timestamp()
where id = $1`

	// postponeRefresh makes metadata that could not be fetched fall due again in five minutes.
	postponeRefresh = `
update auth.saml_providers
set updated_at = clock_timestamp() - $2::interval + interval '5 minutes'
where id = $1`
)

// connection is an identity provider that the project trusts.
type connection struct {
	id           uuid.UUID
	disabled     bool
	samlID       uuid.UUID
	entityID     string
	metadataXML  string
	metadataURL  string
	mapping      sso.Mapping
	nameIDFormat string
	updatedAt    time.Time
}

// name is what identities and users know the identity provider by.
func (c *connection) name() string { return ssoProviderPrefix + c.id.String() }

const ssoProviderPrefix = "sso:"

// destinations are where connectionColumns are read to; done has to be called after.
func (c *connection) destinations() (destinations []any, done func() error) {
	var mapping []byte
	return []any{
			&c.id, &c.disabled, &c.samlID, &c.entityID, &c.metadataXML, &c.metadataURL, &mapping, &c.nameIDFormat, &c.updatedAt,
		}, func() error {
			if len(mapping) == 0 {
				return nil
			}
			if err := json.Unmarshal(mapping, &c.mapping); err != nil {
				return fmt.Errorf("read the attribute mapping of %s: %w", c.id, err)
			}
			return nil
		}
}

func scanConnection(row pgx.Row) (*connection, error) {
	c := &connection{}
	destinations, done := c.destinations()
	if err := row.Scan(destinations...); err != nil {
		return nil, err
	}
	return c, done()
}

// usable refuses an identity provider that has been switched off.
func (c *connection) usable() *Error {
	if c.disabled {
		return absent(CodeSSOProviderDisabled, "SSO Provider assigned for this domain is currently disabled")
	}
	return nil
}

func (s *Service) ssoAllowed() *Error {
	if s.options.SSO.SAML == nil {
		return absent(CodeSAMLProviderDisabled, "SAML 2.0 is disabled")
	}
	return nil
}

// SSOMetadata is what identity providers are given to know this server by. With download it is good for years.
func (s *Service) SSOMetadata(download bool) ([]byte, error) {
	if refusal := s.ssoAllowed(); refusal != nil {
		return nil, refusal
	}
	text, err := s.options.SSO.SAML.Metadata(download, now())
	if err != nil {
		return nil, unexpected("The metadata could not be written", err)
	}
	return text, nil
}

// metadata gives what the identity provider says about itself, fetched anew when that is due. When it cannot be fetched
// what there is goes on to be used, unless it says itself that it is over.
func (s *Service) metadata(ctx context.Context, c *connection) (*sso.Metadata, error) {
	known, err := sso.ParseMetadata([]byte(c.metadataXML))
	if err != nil {
		return nil, unexpected("Error parsing SAML Metadata for SAML provider", err)
	}
	at := now()
	if c.metadataURL == "" || !known.Over(at) && at.Before(c.updatedAt.Add(known.Life())) {
		return known, nil
	}
	tag, err := s.pool.Exec(ctx, claimRefresh, c.samlID, c.updatedAt)
	if err != nil {
		return nil, err
	}
	if tag.RowsAffected() == 0 {
		return known, nil
	}
	text, fresh, err := s.fetchMetadata(ctx, c.metadataURL)
	if err == nil && fresh.EntityID() != c.entityID {
		err = fmt.Errorf("its EntityID is %q, not %q", fresh.EntityID(), c.entityID)
	}
	if err != nil {
		s.log.Warn().Err(err).Stringer("sso_provider_id", c.id).
			Msg("the metadata of an identity provider could not be fetched, the one at hand goes on to be used")
		_, err := s.pool.Exec(ctx, postponeRefresh, c.samlID, known.Life())
		return known, err
	}
	if _, err := s.pool.Exec(ctx, storeRefreshed, c.samlID, string(text)); err != nil {
		return nil, err
	}
	return fresh, nil
}

// fetchMetadata gets metadata from where an identity provider publishes it.
func (s *Service) fetchMetadata(ctx context.Context, address string) ([]byte, *sso.Metadata, error) {
	failed := func(err error) error {
		return &Error{Code: CodeSAMLMetadataFetchFailed, Message: "SAML Metadata could not be fetched: " + err.Error(), Cause: err}
	}
	ctx, cancel := context.WithTimeout(ctx, MetadataPatience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, nil, failed(errors.New("metadata_url is not a valid URL"))
	}
	request.Header.Set("Accept", "application/samlmetadata+xml, application/xml, text/xml")
	response, err := s.options.SSO.Client.Do(request)
	if err != nil {
		return nil, nil, failed(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, nil, failed(fmt.Errorf("the answer has status %d", response.StatusCode))
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, sso.MaxMetadata+1))
	if err != nil {
		return nil, nil, failed(err)
	}
	metadata, err := sso.ParseMetadata(text)
	if err != nil {
		return nil, nil, refuse(CodeValidationFailed, err.Error())
	}
	return text, metadata, nil
}
