// Package web is the HTTP edge of package source: it turns POST requests into requests of an intake and its replies into
// responses.
//
//	application/json                          one record
//	application/x-ndjson, application/jsonl   newline-delimited records
//	Idempotency-Key                           the delivery's id, the same when a client sends again; once, and not empty
//
// The response is JSON whatever happens: 200 all acknowledged, 207 some records rejected and the others acknowledged,
// 400 nothing well-formed or a bad delivery id, 408 the body took too long, 413 too large, 415 another content type, 503 send again, 504 outcome unknown, send again,
// 507 the disk is below its low-water mark.
package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"

	"github.com/millrace-dev/millrace/core/record"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/source"
)

// KeyHeader carries the id of a delivery or of a body: sent again under the same id it takes effect once.
const KeyHeader = "Idempotency-Key"

// Key returns the delivery's id, or "" when the request has none. A header that is there twice, or without a value, is an error: whoever
// sends it means that the request has an id, and a choice of ours would hide that sending it again takes effect again.
func Key(h http.Header) (string, error) {
	switch keys := h.Values(KeyHeader); {
	case len(keys) == 0:
		return "", nil
	case len(keys) > 1:
		return "", fmt.Errorf("%s is given %d times: want one", KeyHeader, len(keys))
	case keys[0] == "":
		return "", fmt.Errorf("%s is empty: give an id, or leave the header out", KeyHeader)
	default:
		return keys[0], nil
	}
}

// Handler returns the handler of an intake. Attempts live in scope and not in the request: a client that goes away does not end
// what it began. A body has at most maxBody bytes.
func Handler(scope *sched.Scope, in *source.Intake, maxBody int64) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		q, status, err := read(w, r, maxBody)
		if err != nil {
			write(w, status, source.Reply{Error: err.Error()})
			return
		}
		reply := in.Handle(scope, q)
		advise(q, &reply)
		write(w, Status(reply), reply)
	}
}

// advise tells whoever has sent several records as one how to send several.
func advise(q source.Request, r *source.Reply) {
	if q.Lines || len(r.Rejected) == 0 {
		return
	}
	switch refused := &r.Rejected[0]; refused.Reason {
	case record.NotObject.String(), record.TrailingData.String():
		refused.Detail += "; with application/json a body is one record, with application/x-ndjson one a line"
	}
}

func read(w http.ResponseWriter, r *http.Request, maxBody int64) (source.Request, int, error) {
	if r.Method != http.MethodPost {
		return source.Request{}, http.StatusMethodNotAllowed, fmt.Errorf("method %s: want POST", r.Method)
	}
	lines, err := isLines(r.Header.Get("Content-Type"))
	if err != nil {
		return source.Request{}, http.StatusUnsupportedMediaType, err
	}
	key, err := Key(r.Header)
	if err != nil {
		return source.Request{}, http.StatusBadRequest, err
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return source.Request{}, http.StatusRequestEntityTooLarge, fmt.Errorf("body has more than %d bytes", over.Limit)
	case errors.Is(err, os.ErrDeadlineExceeded): // the server's bound
		return source.Request{}, http.StatusRequestTimeout, errors.New("the body took too long to come")
	case err != nil:
		return source.Request{}, http.StatusBadRequest, fmt.Errorf("read body: %w", err)
	}
	return source.Request{ID: key, Lines: lines, Body: body}, 0, nil
}

func isLines(header string) (bool, error) {
	kind, parameters, err := mime.ParseMediaType(header)
	if err == nil {
		if charset, ok := parameters["charset"]; ok && charset != "utf-8" && charset != "UTF-8" {
			return false, fmt.Errorf("charset %q: records are UTF-8", charset)
		}
	}
	switch {
	case err != nil:
	case kind == "application/json":
		return false, nil
	case kind == "application/x-ndjson" || kind == "application/ndjson" || kind == "application/jsonl":
		return true, nil
	}
	return false, fmt.Errorf("content type %q: want application/json for one record, application/x-ndjson for lines", header)
}

// Status returns the HTTP status of a reply.
func Status(r source.Reply) int {
	switch r.Code {
	case source.Taken:
		return http.StatusOK
	case source.Partly:
		return http.StatusMultiStatus
	case source.Malformed, source.BadID:
		return http.StatusBadRequest
	case source.TooLarge:
		return http.StatusRequestEntityTooLarge
	case source.Unknown:
		return http.StatusGatewayTimeout
	case source.Refused:
		if errors.Is(r.Cause, source.ErrFull) {
			return http.StatusInsufficientStorage
		}
	case source.Failed:
	}
	return http.StatusServiceUnavailable
}

// write sends JSON. A client that is gone learns nothing and sends again.
func write(w http.ResponseWriter, status int, reply source.Reply) {
	text, err := json.Marshal(reply)
	if err != nil {
		status, text = http.StatusInternalServerError, []byte(`{"error":"reply cannot be encoded"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	if status == http.StatusServiceUnavailable || status == http.StatusInsufficientStorage {
		w.Header().Set("Retry-After", "1")
	}
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n')) // see above
}
