package chaos

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"syscall"
	"time"
)

// Client talks to the replicas. A request goes to one of them and is not repeated here: every attempt is an operation of its own.
type Client struct {
	http     http.Client
	replicas []string // addresses
	history  *History
}

// NewClient returns a client of the replicas at the addresses, which records into h.
func NewClient(replicas []string, h *History) *Client {
	return &Client{
		// A connection each: one to a replica that was killed must not spoil the next request.
		http:     http.Client{Transport: &http.Transport{DisableKeepAlives: true}},
		replicas: replicas, history: h,
	}
}

// reply is an answer, of whichever request.
type reply struct {
	status    int
	Outcome   string `json:"outcome"`
	Instance  string `json:"instance"`
	Duplicate bool   `json:"duplicate"`
	Error     string `json:"error"`
	Reason    string `json:"reason"`
	Status    string `json:"status"`
	Snapshot  struct{ Variables struct{ Log []string } }
	Tasks     []Task
	Running   int
	Emissions int
}

// Task is an external task that a worker has locked.
type Task struct {
	Instance  string
	Wait      uint64
	Lock      uint64
	Variables struct{ Key string }
}

// ask sends one request. The error says that there was no answer that can be read.
func (c *Client) ask(ctx context.Context, patience time.Duration, replica int, method, path, id string, body any) (reply, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return reply{}, fmt.Errorf("encode request: %w", err)
	}
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	req, err := http.NewRequestWithContext(ctx, method, "http://"+c.replicas[replica]+path, bytes.NewReader(text))
	if err != nil {
		return reply{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	if id != "" {
		req.Header.Set("Idempotency-Key", id)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return reply{}, err
	}
	read, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		return reply{}, err
	}
	r := reply{status: resp.StatusCode}
	if err := json.Unmarshal(read, &r); err != nil {
		return reply{}, fmt.Errorf("status %d, answer %.100q: %w", resp.StatusCode, read, err)
	}
	return r, nil
}

// said sorts an answer that is not lost with sort, and notes what a lost one said.
func said(op *Operation, r reply, err error, sort func(reply) Outcome) {
	op.Outcome, op.Instance = Lost, r.Instance
	if err != nil {
		if op.Said = err.Error(); errors.Is(err, syscall.ECONNREFUSED) {
			op.Outcome = Unsent
		}
		return
	}
	if op.Outcome = sort(r); op.Outcome == Lost {
		op.Said = fmt.Sprintf("%d %s %s%s", r.status, r.Outcome, r.Error, r.Reason)
	}
}

// effect sorts the answer of a channel.
func effect(r reply) Outcome {
	switch {
	case r.status == http.StatusOK && r.Duplicate:
		return Duplicate
	case r.status == http.StatusOK:
		return Done
	case r.status == http.StatusNotFound && r.Outcome == "unmatched":
		return Unmatched
	}
	return Lost
}

// open starts the instance of a key and waits for its end, as long as patience allows.
func (c *Client) open(ctx context.Context, patience time.Duration, client, replica int, key string) Operation {
	op := Operation{Client: client, Kind: Open, Key: key, ID: "open-" + key, Replica: replica}
	end := c.history.Begin()
	r, err := c.ask(ctx, patience, replica, http.MethodPost, "/open", op.ID, map[string]any{"key": key})
	said(&op, r, err, effect)
	end(op)
	return op
}

// step brings a message to the instance of a key.
func (c *Client) step(ctx context.Context, client, replica int, key, id string, last bool) Operation {
	op := Operation{Client: client, Kind: Step, Key: key, ID: id, Last: last, Replica: replica}
	end := c.history.Begin()
	r, err := c.ask(ctx, attemptTime, replica, http.MethodPost, "/steps", key+"/"+id, map[string]any{"key": key, "id": id, "last": last})
	said(&op, r, err, effect)
	end(op)
	return op
}

// read asks what an instance has done so far.
func (c *Client) read(ctx context.Context, client, replica int, key, instance string) Operation {
	op := Operation{Client: client, Kind: Read, Key: key, Replica: replica}
	end := c.history.Begin()
	r, err := c.ask(ctx, attemptTime, replica, http.MethodGet, "/api/instances/"+instance, "", nil)
	said(&op, r, err, func(r reply) Outcome {
		switch {
		case r.status == http.StatusOK && r.Status == "running":
			op.Log = r.Snapshot.Variables.Log
			return Seen
		case r.status == http.StatusNotFound:
			return Gone
		}
		return Lost
	})
	end(op)
	return op
}

// fetch locks tasks for a worker.
func (c *Client) fetch(ctx context.Context, replica int, worker string) []Task {
	r, err := c.ask(ctx, 2*attemptTime, replica, http.MethodPost, "/api/tasks/fetch", "", map[string]any{
		"worker": worker, "types": []string{"stamp"}, "max": 3, "lock": lockTime.String(), "wait": "1s",
	})
	if err != nil {
		return nil // what was locked is given away again when its lock has run out
	}
	return r.Tasks
}

// stamp completes a task.
func (c *Client) stamp(ctx context.Context, client, replica int, t Task) Operation {
	op := Operation{Client: client, Kind: Stamp, Key: t.Variables.Key, ID: fmt.Sprintf("%d/%d", t.Wait, t.Lock), Replica: replica}
	end := c.history.Begin()
	path := fmt.Sprintf("/api/tasks/%s/%d/complete", t.Instance, t.Wait)
	r, err := c.ask(ctx, attemptTime, replica, http.MethodPost, path, "", map[string]any{"lock": t.Lock, "variables": map[string]any{}})
	said(&op, r, err, func(r reply) Outcome {
		switch r.status {
		case http.StatusOK:
			return Done
		case http.StatusConflict, http.StatusNotFound:
			return Refused // it is not held any more, or its instance was busy: either way nothing happened
		}
		return Lost
	})
	op.Instance = t.Instance
	end(op)
	return op
}

const (
	attemptTime = 1500 * time.Millisecond // how long a client waits for the answer to a message
	lockTime    = 2 * time.Second         // how long a worker holds a task
)
