package orders

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Answer is the node's account of one body.
type Answer struct {
	Accepted   int         `json:"accepted"`
	Duplicates int         `json:"duplicates"`
	Rejected   []Rejection `json:"rejected"`
}

// Rejection is one line that the node refused.
type Rejection struct {
	Line   int    `json:"line"`
	Reason string `json:"reason"`
}

// Client sends an input to a node until every body has been answered, through restarts of the node.
type Client struct {
	Base    string // http://host:port
	Input   *Input
	Log     *Log
	Workers int
	// Stall is how long the client goes on without an answer to anything. 0: 30 s.
	Stall time.Duration
	// Answered is called after an answer is in the log, with the number of bodies answered so far.
	Answered func(n int)

	Retries   atomic.Int64 // requests that had to be sent again
	Lines     atomic.Int64 // lines answered
	Decisions atomic.Int64 // approvals answered

	http     http.Client
	next     atomic.Int64
	answered atomic.Int64
	decided  sync.Map // order id → struct{}: somebody answers it
	waiting  sync.WaitGroup
}

// requestTimeout bounds one attempt; a body that holds approvals waits for them.
const requestTimeout = 20 * time.Second

// ErrStalled ends a client that got no answer to anything for too long.
var ErrStalled = errors.New("no progress")

const defaultStall = 30 * time.Second

// Run sends everything. It returns when all bodies and approvals are answered, with ErrStalled when no answer arrives for the time
// of Stall, or with the cause of ctx's end.
func (c *Client) Run(ctx context.Context) error {
	c.http.Transport = &http.Transport{MaxIdleConnsPerHost: 2 * c.Workers, ResponseHeaderTimeout: requestTimeout}
	defer c.http.CloseIdleConnections()
	ctx, cancel := context.WithCancelCause(ctx)
	var watch sync.WaitGroup
	watch.Go(func() { c.watch(ctx, cancel) })
	defer watch.Wait()
	defer cancel(nil)
	errs := make(chan error, c.Workers)
	for range c.Workers {
		go func() { errs <- c.work(ctx) }()
	}
	var err error
	for range c.Workers {
		err = errors.Join(err, <-errs)
	}
	c.waiting.Wait()
	return err
}

// watch cancels the client when nothing is answered for too long.
func (c *Client) watch(ctx context.Context, cancel context.CancelCauseFunc) {
	stall := c.Stall
	if stall == 0 {
		stall = defaultStall
	}
	t := time.NewTicker(max(stall/8, time.Millisecond))
	defer t.Stop()
	last, since := int64(-1), time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		switch now := c.Lines.Load() + c.Decisions.Load(); {
		case now != last:
			last, since = now, time.Now()
		case time.Since(since) >= stall:
			cancel(fmt.Errorf("%w for %v: %d lines and %d approvals answered, %d requests sent again", ErrStalled, stall,
				c.Lines.Load(), c.Decisions.Load(), c.Retries.Load()))
			return
		}
	}
}

func (c *Client) work(ctx context.Context) error {
	for {
		i := int(c.next.Add(1) - 1)
		if i >= len(c.Input.Bodies) {
			return nil
		}
		if err := c.send(ctx, i); err != nil {
			return fmt.Errorf("send body %d: %w", i, err)
		}
	}
}

// send posts one body until the node has answered for all of it, then logs the answer.
func (c *Client) send(ctx context.Context, i int) error {
	body := c.Input.Bodies[i]
	text := []byte(Text(body))
	answered, stop := context.WithCancel(ctx)
	defer stop()
	for _, l := range body {
		if l.Order != nil && l.Order.Large() {
			c.decide(answered, *l.Order)
		}
	}
	for attempt := 0; ; attempt++ {
		if attempt > 0 {
			c.Retries.Add(1)
			if err := pause(ctx, attempt); err != nil {
				return err
			}
		}
		status, reply, err := c.post(ctx, "/orders", fmt.Sprintf("body-%06d", i), text)
		if err != nil || status >= 500 || status == http.StatusTooManyRequests {
			continue
		}
		var a Answer
		if err := json.Unmarshal(reply, &a); err != nil {
			return fmt.Errorf("status %d, reply %q: %w", status, reply, err)
		}
		if err := c.Log.Write(Entry{Body: i, Answer: a}); err != nil {
			return err
		}
		c.Lines.Add(int64(len(body)))
		c.Answered(int(c.answered.Add(1)))
		return nil
	}
}

// decide answers the approval of an order in the background. The instance that asks may not be there yet, and after a
// crash the answer may have been taken though nobody said so: then the body's own answer ends the attempts.
func (c *Client) decide(answered context.Context, o Order) {
	if _, busy := c.decided.LoadOrStore(o.ID, struct{}{}); busy {
		return
	}
	text, err := json.Marshal(map[string]any{"order_id": o.ID, "approved": o.Approved()})
	if err != nil {
		panic(fmt.Sprintf("encode decision %s: %v", o.ID, err)) // a string and a bool: cannot fail
	}
	c.waiting.Go(func() {
		for attempt := 0; ; attempt++ {
			status, _, err := c.post(answered, "/decisions", "decision-"+o.ID, text)
			if err == nil && status < 300 {
				c.Decisions.Add(1)
				return
			}
			if pause(answered, min(attempt, 4)) != nil {
				return
			}
		}
	})
}

func (c *Client) post(ctx context.Context, path, id string, body []byte) (int, []byte, error) {
	ctx, stop := context.WithTimeout(ctx, requestTimeout)
	defer stop()
	return Post(ctx, &c.http, c.Base+path, "application/x-ndjson", id, body)
}

// Post sends a body of a content type under an id, and returns the status and the body of the answer.
func Post(ctx context.Context, c *http.Client, url, kind, id string, body []byte) (int, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Content-Type", kind)
	req.Header.Set("Idempotency-Key", id)
	resp, err := c.Do(req)
	if err != nil {
		return 0, nil, err
	}
	reply, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	return resp.StatusCode, reply, errors.Join(err, resp.Body.Close())
}

// pause waits longer with each attempt, at most 200 ms.
func pause(ctx context.Context, attempt int) error {
	t := time.NewTimer(min(time.Duration(5<<min(attempt, 6))*time.Millisecond, 200*time.Millisecond))
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}
