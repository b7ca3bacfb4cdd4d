package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

const (
	keysOfFactors = `
select id, web_authn_credential
from auth.mfa_factors
where user_id = $1
and factor_type = 'webauthn'
and status = 'verified'
and web_authn_credential is not null`

	// acceptKey proves a factor for the first time. Of two that register a key pair for it at once the second is too late.
	acceptKey = openChallenge + `
proved as (
    update auth.mfa_challenges c
    set verified_at = $3
    from challenged
    join auth.mfa_factors f on f.id = challenged.id
    where c.id = challenged.challenge
    and f.status = 'unverified'
    returning c.factor_id as id
),` + raiseSession

	// keepKey follows acceptKey: a factor that it has not proved is left as it is.
	keepKey = `
update auth.mfa_factors
set web_authn_credential = $2,
    web_authn_aaguid = $3
where id = $1
and status = 'verified'
and web_authn_credential is null`

	// growing is the condition that a key's count of signatures grows to $2, or stays 0 for ever (WebAuthn §7.2).
	growing = `
case coalesce((f.web_authn_credential #>> '{authenticator,signCount}')::bigint, 0)
    when 0 then true
    else (f.web_authn_credential #>> '{authenticator,signCount}')::bigint < `

	acceptSignature = openChallenge + `
proved as (
    update auth.mfa_challenges c
    set verified_at = $3
    from challenged
    join auth.mfa_factors f on f.id = challenged.id
    where c.id = challenged.challenge
    and f.status = 'verified'
    and ` + growing + `$10
    end
    returning c.factor_id as id
),` + raiseSession

	keepCount = `
update auth.mfa_factors f
set web_authn_credential = $2
where f.id = $1
and ` + growing + `$3
end`
)

// The two things that an authenticator is asked to do: make a key pair, or sign with it.
const (
	keyCreate  = "create"
	keyRequest = "request"
)

// KeyChallenge is what the authenticator behind a factor is asked.
type KeyChallenge struct {
	// Type is create for a factor that is to be proved for the first time, else request.
	Type string
	// Options are CredentialCreationOptions or CredentialRequestOptions in the JSON of WebAuthn §5.1.
	Options json.RawMessage
}

// KeyProof is what the authenticator behind a factor answers.
type KeyProof struct {
	Type string
	// Answer is a RegistrationResponseJSON or an AuthenticationResponseJSON.
	Answer json.RawMessage
}

// check refuses what is no answer of an authenticator.
func (k *KeyProof) check() *Error {
	switch {
	case k == nil:
		return refuse(CodeValidationFailed, "WebAuthn config required")
	case k.Type != keyCreate && k.Type != keyRequest:
		return refuse(CodeValidationFailed, "WebAuthn type must be create or request")
	case len(k.Answer) == 0 || string(k.Answer) == "null":
		return refuse(CodeValidationFailed, "credential_response required")
	}
	return nil
}

// secondFactor asks for authenticators that are there beside a password: they need not know their user.
func secondFactor() protocol.AuthenticatorSelection {
	return protocol.AuthenticatorSelection{
		ResidentKey:        protocol.ResidentKeyRequirementDiscouraged,
		RequireResidentKey: protocol.ResidentKeyNotRequired(),
		UserVerification:   protocol.VerificationPreferred,
	}
}

// askKey makes the challenge for a factor's authenticator, and what its answer will be checked against.
func (s *Service) askKey(ctx context.Context, u *User, f Factor) (challenge *KeyChallenge, session []byte, err error) {
	w, err := s.ceremonies(secondFactor())
	if err != nil {
		return nil, nil, err
	}
	keys, err := s.keysOfFactors(ctx, u.ID)
	if err != nil {
		return nil, nil, err
	}
	challenge = &KeyChallenge{Type: keyCreate}
	var options any
	var data *webauthn.SessionData
	if f.Status == statusVerified {
		challenge.Type = keyRequest
		key, found := keys[f.ID]
		if !found {
			return nil, nil, factorNotFound()
		}
		options, data, err = w.BeginLogin(newKeyHolder(u, []webauthn.Credential{key}))
	} else {
		all := newKeyHolder(u, nil)
		for _, key := range keys {
			all.Credentials = append(all.Credentials, key)
		}
		options, data, err = w.BeginRegistration(all, webauthn.WithExclusions(all.Descriptors()))
	}
	if err != nil {
		return nil, nil, unexpected("Failed to generate WebAuthn options", err)
	}
	if challenge.Options, err = json.Marshal(options); err != nil {
		return nil, nil, fmt.Errorf("write WebAuthn options: %w", err)
	}
	if session, err = json.Marshal(data); err != nil {
		return nil, nil, fmt.Errorf("write a challenge: %w", err)
	}
	return challenge, session, nil
}

// keysOfFactors gives the public keys of an account's factors.
func (s *Service) keysOfFactors(ctx context.Context, user uuid.UUID) (map[uuid.UUID]webauthn.Credential, error) {
	rows, err := s.pool.Query(ctx, keysOfFactors, user)
	if err != nil {
		return nil, err
	}
	keys := map[uuid.UUID]webauthn.Credential{}
	var id uuid.UUID
	var text []byte
	_, err = pgx.ForEachRow(rows, []any{&id, &text}, func() error {
		var key webauthn.Credential
		if err := json.Unmarshal(text, &key); err != nil {
			return fmt.Errorf("read the key of factor %s: %w", id, err)
		}
		keys[id] = key
		return nil
	})
	return keys, err
}

// compareKey tells whether an authenticator's answer is right, and how it is accepted then.
func (s *Service) compareKey(caller Caller, found *expected, in FactorProof) (*acceptance, error) {
	wrong := unprocessable(CodeFactorVerificationFailed, "The answer of the authenticator is not right")
	refused := func(why error) error { return s.unverified(caller, wrong, why) }
	w, err := s.ceremonies(secondFactor())
	if err != nil {
		return nil, err
	}
	var session webauthn.SessionData
	if err := json.Unmarshal(found.session, &session); err != nil {
		return nil, refused(err)
	}
	id := found.factor.ID
	parameters := []any{in.ChallengeID, id, now().Add(-challengeLife)}
	accept := &acceptance{refusal: wrong}
	var key *webauthn.Credential
	if in.Key.Type == keyCreate {
		if found.factor.Status == statusVerified {
			return nil, refused(errors.New("the factor has its key pair already"))
		}
		parsed, err := protocol.ParseCredentialCreationResponseBytes(in.Key.Answer)
		if err != nil {
			return nil, refused(err)
		}
		if key, err = w.CreateCredential(newKeyHolder(found.user, nil), session, parsed); err != nil {
			return nil, refused(err)
		}
		accept.statement, accept.parameters = acceptKey, parameters
	} else {
		var known webauthn.Credential
		if err := json.Unmarshal(found.key, &known); err != nil {
			return nil, refused(err)
		}
		parsed, err := protocol.ParseCredentialRequestResponseBytes(in.Key.Answer)
		if err != nil {
			return nil, refused(err)
		}
		if key, err = w.ValidateLogin(newKeyHolder(found.user, []webauthn.Credential{known}), session, parsed); err != nil {
			return nil, refused(err)
		}
		if key.Authenticator.CloneWarning {
			s.log.Warn().Stringer("user_id", found.user.ID).Stringer("factor_id", id).Str("request_id", caller.RequestID).
				Msg("a factor was used whose count of signatures does not grow: its authenticator may have been cloned")
			return nil, refused(errors.New("the count of signatures does not grow"))
		}
		accept.statement, accept.parameters = acceptSignature, append(parameters, int64(key.Authenticator.SignCount))
	}
	text, err := json.Marshal(key)
	if err != nil {
		return nil, fmt.Errorf("write a public key: %w", err)
	}
	accept.after = func(batch *pgx.Batch) {
		if in.Key.Type == keyCreate {
			aaguid, _ := uuid.FromBytes(key.Authenticator.AAGUID) // that of an unknown model is zero
			batch.Queue(keepKey, id, text, aaguid)
			return
		}
		batch.Queue(keepCount, id, text, int64(key.Authenticator.SignCount))
	}
	return accept, nil
}
