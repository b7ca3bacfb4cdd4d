package hook

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"basalt/auth/outgoing"
)

const (
	attempts = 3
	// pause is between attempts at a server that cannot be reached.
	pause = 500 * time.Millisecond
)

// post sends the payload to the server, three times at most and within Timeout. All attempts have one id, by which a
// server tells them from new messages (Standard Webhooks, "Webhook headers").
func (h *Hook) post(ctx context.Context, payload []byte) ([]byte, error) {
	within, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	id := uuid.NewString()
	var last error
	for attempt := 1; ; attempt++ {
		answer, wait, err := h.try(within, id, payload)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err == nil, wait == 0:
			return answer, err
		case within.Err() != nil:
			return nil, h.timedOut(err)
		case attempt == attempts:
			return nil, err
		}
		last = err
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-within.Done():
			timer.Stop()
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return nil, h.timedOut(last)
		}
	}
}

// try makes one attempt. A wait with the error tells when another one may have success.
func (h *Hook) try(ctx context.Context, id string, payload []byte) (answer []byte, wait time.Duration, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, h.address, bytes.NewReader(payload))
	if err != nil {
		return nil, 0, h.failed("make the request", err)
	}
	at := strconv.FormatInt(time.Now().Unix(), 10)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("webhook-id", id)
	request.Header.Set("webhook-timestamp", at)
	request.Header.Set("webhook-signature", h.sign(id, at, payload))
	response, err := h.client.Do(request)
	if err != nil {
		return h.unanswered(err)
	}
	defer response.Body.Close()
	switch response.StatusCode {
	case http.StatusNoContent:
		return nil, 0, nil
	case http.StatusOK, http.StatusAccepted:
		contentType := response.Header.Get("Content-Type")
		if kind, _, err := mime.ParseMediaType(contentType); err != nil || kind != "application/json" {
			return nil, 0, h.unreadable(contentType)
		}
		answer, err = io.ReadAll(response.Body)
		if err != nil {
			return nil, 0, h.failed("read the answer", err)
		}
		return answer, 0, nil
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		failure := h.failed("call the server", fmt.Errorf("it answered %d", response.StatusCode))
		failure.Message = "Service currently unavailable due to hook"
		return nil, retryAfter(response.Header.Get("Retry-After")), failure
	}
	return nil, 0, h.failed("call the server", fmt.Errorf("it answered %d", response.StatusCode))
}

// unanswered is what a call without an answer means. What the guard refuses is refused again.
func (h *Hook) unanswered(err error) ([]byte, time.Duration, error) {
	var failure *url.Error
	if errors.As(err, &failure) {
		err = failure.Err // without the URL, whose query may hold secrets
	}
	var denied *outgoing.DeniedError
	switch {
	case errors.Is(err, outgoing.ErrTooLarge):
		return nil, 0, h.tooLarge()
	case errors.Is(err, outgoing.ErrBusy), errors.As(err, &denied):
		return nil, 0, h.failed("call the server", err)
	}
	return nil, pause, h.unreachable(err)
}

// retryAfter reads when to try again (RFC 9110 §10.2.3); without a word from the server, never.
func retryAfter(text string) time.Duration {
	if text == "" {
		return 0
	}
	if seconds, err := strconv.Atoi(text); err == nil && seconds >= 0 {
		return max(time.Millisecond, time.Duration(min(seconds, 3600))*time.Second)
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(time.Millisecond, time.Until(at))
	}
	return pause
}

// sign gives a signature for each secret: a server that is being given a new one knows us by either.
func (h *Hook) sign(id, at string, payload []byte) string {
	signatures := make([]string, len(h.secrets))
	for i, secret := range h.secrets {
		mac := hmac.New(sha256.New, secret)
		fmt.Fprintf(mac, "%s.%s.%s", id, at, payload)
		signatures[i] = "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	return strings.Join(signatures, " ")
}
