package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// defaultNode is where a node listens unless it is told otherwise.
const defaultNode = "http://127.0.0.1:8080"

// client asks a running node over its administration interface.
type client struct {
	base string
	http *http.Client
}

// nodeFlags are the flags of a command that asks a node.
func nodeFlags(name string, errs io.Writer) (*flag.FlagSet, *string) {
	f := flag.NewFlagSet(name, flag.ContinueOnError)
	f.SetOutput(errs)
	return f, f.String("node", defaultNode, "address of the node")
}

func newClient(base string) *client {
	if !strings.Contains(base, "://") {
		base = "http://" + base
	}
	return &client{strings.TrimRight(base, "/"), &http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true}}}
}

// maxAnswer bounds what is read of an answer.
const maxAnswer = 64 << 20

// send sends a request and returns the answer, whatever it says.
func (c *client) send(ctx context.Context, method, path, kind string, body []byte) (*http.Response, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	req.Header.Set("Content-Type", kind)
	resp, err := c.http.Do(req)
	if failed := (*url.Error)(nil); errors.As(err, &failed) {
		err = fmt.Errorf("no node answers at %s (--node says where it is): %w", c.base, failed.Err)
	}
	if err != nil {
		return nil, nil, err
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	return resp, text, errors.Join(err, resp.Body.Close())
}

// ask sends a request and decodes the answer. An answer that is no success is an error with the node's words, and only these: they say
// what is wrong and what to do. Without any, the answer's status must do.
func (c *client) ask(ctx context.Context, method, path string, body []byte, into any) error {
	resp, text, err := c.send(ctx, method, path, "application/json", body)
	if err != nil {
		return err
	}
	if resp.StatusCode/100 != 2 {
		var problem struct {
			Error string `json:"error"`
		}
		if json.Unmarshal(text, &problem) != nil || problem.Error == "" {
			problem.Error = fmt.Sprintf("the node answers %s: %.200s", resp.Status, bytes.TrimSpace(text))
		}
		return &refusal{resp.StatusCode, problem.Error}
	}
	return json.Unmarshal(text, into)
}

// refusal is an answer that is no success.
type refusal struct {
	status int
	text   string
}

func (r *refusal) Error() string { return r.text }

// refusedBy prints why a command did not succeed and returns the exit status: refused when the node would refuse the same words again, as
// they ask for what is not there or make no sense; failed when it is about the moment, or nobody answers.
func refusedBy(verb string, err error, errs io.Writer) int {
	say(errs, "millrace %s: %v\n", verb, err)
	if r := (*refusal)(nil); errors.As(err, &r) && refuses(r.status) {
		return statusRefused
	}
	return statusFailed
}

// refuses reports whether an HTTP status is about what was asked, not about when.
func refuses(status int) bool { return status/100 == 4 && status != http.StatusConflict }

func escape(part string) string { return url.PathEscape(part) }
