package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
)

func step(context.Context) (int, error) { return 1, nil }

// durable is the flow.
func durable(ctx dbos.Context, _ string) (int, error) {
	before, err := dbos.RunAsStep(ctx, step)
	if err != nil {
		return 0, err
	}
	message, err := dbos.Recv[int](ctx, "go-on", time.Minute)
	if err != nil {
		return 0, err
	}
	after, err := dbos.RunAsStep(ctx, step)
	return before + message + after, err
}

func startDBOS(ctx context.Context, url string) (*peer, error) {
	if url == "" {
		return nil, errors.New("dbos needs -url")
	}
	d, err := dbos.NewContext(ctx, dbos.Config{AppName: "peers", DatabaseURL: url, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		return nil, err
	}
	dbos.RegisterWorkflow(d, durable)
	if err := dbos.Launch(d); err != nil {
		return nil, err
	}
	return &peer{
		sync: "PostgreSQL, synchronous_commit=on",
		one: func(_ context.Context, id string) error {
			h, err := dbos.RunWorkflow(d, durable, id, dbos.WithWorkflowID(id))
			if err != nil {
				return err
			}
			if err := dbos.Send(d, id, 1, "go-on"); err != nil {
				return err
			}
			sum, err := h.GetResult()
			if err == nil && sum != 3 {
				err = errors.New("wrong result")
			}
			return err
		},
		stop: func() error { return dbos.Shutdown(d, 10*time.Second) },
	}, nil
}
