package outbox

import (
	"context"
	"errors"
	"net/http"

	"basalt/auth"
	"basalt/auth/hook"
)

// ByHook delivers messages through the hooks of the project's owner. It implements Deliverer.
type ByHook struct {
	Messenger *auth.HookMessenger
}

// Deliver hands a message over. What the hook refuses by a status of 4xx is not tried again.
func (b ByHook) Deliver(ctx context.Context, m *Message) error {
	var err error
	if m.Channel == Email {
		err = b.Messenger.Mail(ctx, m.Mail)
	} else {
		err = b.Messenger.SMS(ctx, m.SMS)
	}
	var failure *hook.Error
	switch {
	case errors.Is(err, auth.ErrNobody):
		return Refuse(err)
	case !errors.As(err, &failure):
		return err
	case failure.Kind == hook.Refused && failure.Status < http.StatusInternalServerError && failure.Status != http.StatusTooManyRequests:
		return Refuse(err)
	case failure.Kind == hook.TimedOut, failure.Kind == hook.Unreachable:
		return Unreachable(err)
	}
	return err
}

var _ Deliverer = ByHook{}
