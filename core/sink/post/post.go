// Package post is the HTTP edge of package sink: it posts rows as newline-delimited JSON and says what the answer means.
//
//	2xx                                  accepted
//	408, 425, 429, 5xx, no answer        again, later
//	every other status                   never: 400 and 422 blame a row, 401 and 403 the sender; both go to dead letters
//
// Redirects are not followed: rows would go where nobody configured them to go.
package post

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/millrace-dev/millrace/core/relay"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/sink"
)

// Client posts to one URL.
type Client struct {
	url     string
	timeout time.Duration
	client  *http.Client
}

// maxReply bounds how much of an answer is read: enough for a reason in a log, and to use the connection again.
const maxReply = 4 << 10

// NewClient returns a client whose attempts take at most timeout each.
func NewClient(url string, timeout time.Duration) *Client {
	return &Client{url: url, timeout: timeout, client: &http.Client{
		Transport:     &http.Transport{MaxIdleConnsPerHost: 2, IdleConnTimeout: time.Minute, Proxy: http.ProxyFromEnvironment},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Close lets go of connections that nobody uses.
func (c *Client) Close() { c.client.CloseIdleConnections() }

// Post sends a body of rows. key names it: the same rows sent again have the same one, in the header Idempotency-Key.
func (c *Client) Post(scope *sched.Scope, body []byte, key string) (sink.Verdict, error) {
	bounded := scope.ChildTimeout("post", c.timeout)
	defer bounded.Close()
	request, err := http.NewRequestWithContext(bounded.Context(), http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return sink.Never, fmt.Errorf("post to %s: %w", c.url, err)
	}
	request.Header.Set("Content-Type", "application/x-ndjson")
	request.Header.Set("Idempotency-Key", key)
	response, err := c.client.Do(request)
	if err != nil {
		return sink.Again, fmt.Errorf("post to %s: %w", c.url, err)
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, maxReply))
	if err = errors.Join(err, response.Body.Close()); err != nil && response.StatusCode/100 != 2 {
		return sink.Again, fmt.Errorf("post to %s: %w", c.url, err)
	}
	verdict := Judge(response.StatusCode)
	if verdict == sink.Accepted {
		return verdict, nil
	}
	return verdict, fmt.Errorf("post to %s: status %s: %.200q", c.url, response.Status, text)
}

// Judge says what a status means.
func Judge(status int) sink.Verdict {
	switch {
	case status/100 == 2:
		return sink.Accepted
	case status/100 == 5, status == http.StatusRequestTimeout, status == http.StatusTooEarly, status == http.StatusTooManyRequests:
		return sink.Again
	}
	return sink.Never
}

// Key returns the name of the given rows together: a digest of their ids.
func Key(ids relay.IDs, rows []int32) string {
	h := sha256.New()
	for _, row := range rows {
		fmt.Fprintf(h, "%q", ids.At(int(row)))
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
