package administrator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"basalt/auth"
)

const (
	// challengeLife is how long an authenticator may take.
	challengeLife = 5 * time.Minute
	// mostPasskeys is how many one administrator may have.
	mostPasskeys = 20
	// mostPasskeyName is how long the name of one may be, in bytes.
	mostPasskeyName = 120
)

// Passkey is a key pair that lets its holder sign in with nothing else.
type Passkey struct {
	ID   uuid.UUID
	Name string
	// RelyingParty is the domain that the key pair works at.
	RelyingParty string
	CreatedAt    time.Time
	LastUsedAt   *time.Time
}

const (
	passkeyColumns = `
    p.id,
    p.name,
    p.relying_party,
    p.created_at,
    p.last_used_at`

	passkeysOf = `
select` + passkeyColumns + `
from basalt.administrator_passkeys p
where p.administrator_id = $1
order by p.created_at, p.id`

	credentialsOf = `
select` + credentialColumns + `
from basalt.administrator_passkeys p
where p.administrator_id = $1
and p.relying_party = $2`

	// credentialColumns are what auth.ScanCredential reads.
	credentialColumns = `
    p.credential_id,
    p.public_key,
    p.attestation_type,
    p.aaguid,
    p.sign_count,
    p.transports,
    p.backup_eligible,
    p.backed_up`

	// insertPasskey writes a passkey if there is room. The administrator's row is locked before.
	insertPasskey = `
insert into basalt.administrator_passkeys as p (
    id, administrator_id, name, relying_party, credential_id, public_key, attestation_type, aaguid, sign_count,
    transports, backup_eligible, backed_up
)
select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12
where (select count(*) from basalt.administrator_passkeys where administrator_id = $2) < $13
on conflict (credential_id) do nothing
returning` + passkeyColumns

	// lockSession holds a session and its administrator: who was thrown out meanwhile must not leave a way in behind.
	lockSession = `
select a.id
from basalt.administrators a
join basalt.administrator_sessions s on s.administrator_id = a.id
where s.id = $1
and ` + alive + `
for update of a, s`

	deletePasskey = `
delete from basalt.administrator_passkeys
where id = $1
and administrator_id = $2
returning name`

	// passkeyToSignIn finds a passkey by its credential id and the user handle, both as the authenticator tells them.
	passkeyToSignIn = `
select` + credentialColumns + `
from basalt.administrator_passkeys p
where p.credential_id = $1
and p.administrator_id = $2
and p.relying_party = $3`

	// usePasskey notes a sign-in. The count must grow (WebAuthn §7.2): of two answers with the same one the second changes
	// nothing. Authenticators that do not count say 0 for ever.
	usePasskey = `
update basalt.administrator_passkeys
set sign_count = $3,
    backed_up = $4,
    last_used_at = now()
where credential_id = $1
and administrator_id = $2
and (sign_count < $3 or (sign_count = 0 and $3 = 0))`

	lockAdministrator = `
select email
from basalt.administrators
where id = $1
for update`

	insertChallenge = `
insert into basalt.administrator_challenges (id, administrator_id, session_data, expires_at)
values ($1, $2, $3, now() + $4)`

	sweepChallenges = `
delete from basalt.administrator_challenges
where id in (
    select id
    from basalt.administrator_challenges
    where expires_at < now()
    order by expires_at
    limit 100
    for update skip locked
)`

	// consumeChallenge uses a challenge up: of many callers with the same one, the first gets it.
	consumeChallenge = `
delete from basalt.administrator_challenges
where id = $1
and administrator_id is not distinct from $2
and expires_at > now()
returning session_data`
)

// Challenge is what an authenticator is asked.
type Challenge[T any] struct {
	ID      uuid.UUID
	Options *T
}

// CreationOptions are what a browser makes a key pair of (WebAuthn §5.4).
type CreationOptions = protocol.PublicKeyCredentialCreationOptions

// RequestOptions are what a browser finds a key pair by (WebAuthn §5.5).
type RequestOptions = protocol.PublicKeyCredentialRequestOptions

// ceremonies gives what checks the answers of authenticators at the dashboard's own origin.
func ceremonies(origin *url.URL) (*webauthn.WebAuthn, error) {
	party := auth.RelyingParty{Name: "Basalt"}
	w, err := party.Ceremonies(origin.String(), auth.PasskeySelection())
	if err != nil {
		return nil, &Error{
			Code: CodeDomainNeeded, Message: "Passkeys need a domain, and " + plain(origin.Hostname(), 255) + " is none",
			Hint: "Open the dashboard by a name, such as localhost.", Cause: err,
		}
	}
	return w, nil
}

// Passkeys lists those of an administrator.
func (s *Service) Passkeys(ctx context.Context, id uuid.UUID) ([]Passkey, error) {
	rows, err := s.db.Query(ctx, passkeysOf, id)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, scanPasskey)
}

func scanPasskey(row pgx.CollectableRow) (Passkey, error) {
	var p Passkey
	err := row.Scan(&p.ID, &p.Name, &p.RelyingParty, &p.CreatedAt, &p.LastUsedAt)
	return p, err
}

// BeginPasskey asks an authenticator of whoever is signed in for a key pair.
func (s *Service) BeginPasskey(ctx context.Context, who *Administrator, origin *url.URL) (*Challenge[CreationOptions], error) {
	w, err := ceremonies(origin)
	if err != nil {
		return nil, err
	}
	rows, err := s.db.Query(ctx, credentialsOf, who.ID, w.Config.RPID)
	if err != nil {
		return nil, err
	}
	credentials, err := pgx.CollectRows(rows, auth.ScanCredential)
	if err != nil {
		return nil, err
	}
	if who.Passkeys >= mostPasskeys {
		return nil, tooManyPasskeys()
	}
	holder := auth.KeyHolder{ID: who.ID, Name: who.Email, Credentials: credentials}
	creation, data, err := w.BeginRegistration(holder, webauthn.WithExclusions(holder.Descriptors()))
	if err != nil {
		return nil, err
	}
	id, err := s.keepChallenge(ctx, &who.ID, data)
	if err != nil {
		return nil, err
	}
	return &Challenge[CreationOptions]{id, &creation.Response}, nil
}

func tooManyPasskeys() *Error {
	return refuse(CodeTooManyPasskeys, fmt.Sprintf("An administrator may have %d passkeys", mostPasskeys))
}

// FinishPasskey checks the key pair that an authenticator has made and keeps its public half. The answer is a
// RegistrationResponseJSON (WebAuthn §5.1).
func (s *Service) FinishPasskey(ctx context.Context, caller auth.Caller, session *Session, origin *url.URL, challenge uuid.UUID, name string, answer json.RawMessage) (*Passkey, error) {
	key, err := s.finishPasskey(ctx, caller, session, origin, challenge, name, answer)
	s.event(caller, "passkey_add", session.Administrator.ID, err)
	return key, err
}

func (s *Service) finishPasskey(ctx context.Context, caller auth.Caller, session *Session, origin *url.URL, challenge uuid.UUID, name string, answer json.RawMessage) (*Passkey, error) {
	who := session.Administrator
	if name = plain(name, mostPasskeyName); name == "" {
		name = "Passkey"
	}
	w, err := ceremonies(origin)
	if err != nil {
		return nil, err
	}
	parsed, err := protocol.ParseCredentialCreationResponseBytes(answer)
	if err != nil {
		return nil, passkeyRefused(err)
	}
	data, err := s.consume(ctx, challenge, &who.ID)
	if err != nil {
		return nil, err
	}
	c, err := w.CreateCredential(auth.KeyHolder{ID: who.ID, Name: who.Email}, *data, parsed)
	if err != nil {
		return nil, passkeyRefused(err)
	}
	transports := []byte(`[]`)
	if len(c.Transport) > 0 {
		if transports, err = json.Marshal(c.Transport); err != nil {
			return nil, err
		}
	}
	var aaguid *uuid.UUID
	if id, err := uuid.FromBytes(c.Authenticator.AAGUID); err == nil {
		aaguid = &id
	}
	var key Passkey
	err = pgx.BeginFunc(ctx, s.db, func(tx pgx.Tx) error {
		if err := tx.QueryRow(ctx, lockSession, session.ID).Scan(new(uuid.UUID)); errors.Is(err, pgx.ErrNoRows) {
			return signedOut()
		} else if err != nil {
			return err
		}
		rows, err := tx.Query(ctx, insertPasskey, uuid.New(), who.ID, name, w.Config.RPID, c.ID, c.PublicKey, c.AttestationType, aaguid,
			int64(c.Authenticator.SignCount), transports, c.Flags.BackupEligible, c.Flags.BackupState, mostPasskeys)
		if err != nil {
			return err
		}
		key, err = pgx.CollectExactlyOneRow(rows, scanPasskey)
		switch {
		case errors.Is(err, pgx.ErrNoRows) && who.Passkeys >= mostPasskeys:
			return tooManyPasskeys()
		case errors.Is(err, pgx.ErrNoRows):
			return refuse(CodePasskeyExists, "This passkey is registered already, or there is no room for another")
		case err != nil:
			return err
		}
		return Record(ctx, tx, actor(caller, who.ID, who.Email), Change{Action: "passkey.add", Target: key.ID.String(), After: map[string]string{"name": name}})
	})
	if err != nil {
		return nil, err
	}
	return &key, nil
}

// RemovePasskey takes a passkey of the caller's own away.
func (s *Service) RemovePasskey(ctx context.Context, by Actor, id uuid.UUID) error {
	return pgx.BeginFunc(ctx, s.db, func(tx pgx.Tx) error {
		var name string
		err := tx.QueryRow(ctx, deletePasskey, id, by.ID).Scan(&name)
		if errors.Is(err, pgx.ErrNoRows) {
			return notFound("passkey")
		}
		if err != nil {
			return err
		}
		return Record(ctx, tx, by, Change{Action: "passkey.remove", Target: id.String(), Before: map[string]string{"name": name}})
	})
}

// passkeyRefused is the refusal of an answer that does not prove what it should. It holds no secret, as WebAuthn's
// answers have none.
func passkeyRefused(why error) *Error {
	e := &Error{Code: CodePasskeyRefused, Message: "The passkey was not accepted", Cause: why}
	var detail *protocol.Error
	if errors.As(why, &detail) {
		e.Cause = fmt.Errorf("%w: %s", why, detail.DevInfo)
	}
	return e
}

// keepChallenge stores what the answer of an authenticator will be checked against.
func (s *Service) keepChallenge(ctx context.Context, administrator *uuid.UUID, data *webauthn.SessionData) (uuid.UUID, error) {
	text, err := json.Marshal(data)
	if err != nil {
		return uuid.Nil, fmt.Errorf("write a challenge: %w", err)
	}
	id := uuid.New()
	batch := &pgx.Batch{}
	batch.Queue(sweepChallenges)
	batch.Queue(insertChallenge, id, administrator, text, challengeLife)
	return id, s.db.SendBatch(ctx, batch).Close()
}

// consume uses a challenge up.
func (s *Service) consume(ctx context.Context, id uuid.UUID, administrator *uuid.UUID) (*webauthn.SessionData, error) {
	var text []byte
	err := s.db.QueryRow(ctx, consumeChallenge, id, administrator).Scan(&text)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, refuse(CodeChallengeGone, "The challenge was answered already, or has expired")
	}
	if err != nil {
		return nil, err
	}
	data := &webauthn.SessionData{}
	return data, json.Unmarshal(text, data)
}
