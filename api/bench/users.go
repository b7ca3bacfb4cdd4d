package bench

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/google/uuid"
)

// makeUser makes a user of the server, anew where one is left of a run that was killed: the id follows from the address.
// The credential is password, or password_hash for one that is hashed already.
func (t *Target) makeUser(ctx context.Context, email, credential, value string) (id string, err error) {
	id = uuid.NewSHA1(uuid.NameSpaceURL, []byte("mailto:"+email)).String()
	if err := t.removeUser(ctx, id); err != nil {
		return "", err
	}
	body, err := json.Marshal(map[string]any{"id": id, "email": email, "email_confirm": true, credential: value})
	if err != nil {
		return "", err
	}
	t.users = append(t.users, id) // before it is there: an interrupt may come in between
	return id, t.service(ctx, http.MethodPost, "/auth/v1/admin/users", body, nil)
}

// removeUser takes a user away who may not be there.
func (t *Target) removeUser(ctx context.Context, id string) error {
	err := t.service(ctx, http.MethodDelete, "/auth/v1/admin/users/"+id, nil, nil)
	var refused *statusError
	if errors.As(err, &refused) && refused.status == http.StatusNotFound {
		return nil
	}
	return err
}

// removeUsers takes away all users of the run.
func (t *Target) removeUsers(ctx context.Context) error {
	var problems []error
	for _, id := range t.users {
		problems = append(problems, t.removeUser(ctx, id))
	}
	t.users = nil
	return errors.Join(problems...)
}
