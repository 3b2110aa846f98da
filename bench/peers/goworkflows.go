package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/cschleiden/go-workflows/backend"
	"github.com/cschleiden/go-workflows/backend/sqlite"
	"github.com/cschleiden/go-workflows/client"
	"github.com/cschleiden/go-workflows/worker"
	"github.com/cschleiden/go-workflows/workflow"
)

func work(context.Context) (int, error) { return 1, nil }

// order is the flow.
func order(ctx workflow.Context) (int, error) {
	before, err := workflow.ExecuteActivity[int](ctx, workflow.DefaultActivityOptions, work).Get(ctx)
	if err != nil {
		return 0, err
	}
	message, _ := workflow.NewSignalChannel[int](ctx, "go-on").Receive(ctx)
	after, err := workflow.ExecuteActivity[int](ctx, workflow.DefaultActivityOptions, work).Get(ctx)
	return before + message + after, err
}

func startGoWorkflows(ctx context.Context) (*peer, error) {
	dir, err := os.MkdirTemp("", "peers-")
	if err != nil {
		return nil, err
	}
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	b := sqlite.NewSqliteBackend(filepath.Join(dir, "flows.sqlite"),
		sqlite.WithApplyMigrations(true), sqlite.WithBackendOptions(backend.WithLogger(quiet)))
	options := worker.DefaultOptions
	options.WorkflowPollingInterval, options.ActivityPollingInterval = time.Millisecond, time.Millisecond
	w := worker.New(b, &options)
	if err := errors.Join(w.RegisterWorkflow(order), w.RegisterActivity(work)); err != nil {
		return nil, err
	}
	if err := w.Start(ctx); err != nil {
		return nil, err
	}
	c := client.New(b)
	return &peer{
		sync: "SQLite, write-ahead log, synchronous=FULL (its default)",
		one: func(ctx context.Context, id string) error {
			i, err := c.CreateWorkflowInstance(ctx, client.WorkflowInstanceOptions{InstanceID: id}, order)
			if err != nil {
				return err
			}
			if err := c.SignalWorkflow(ctx, id, "go-on", 1); err != nil {
				return err
			}
			return c.WaitForWorkflowInstance(ctx, i, time.Minute)
		},
		stop: func() error { return errors.Join(w.WaitForCompletion(), b.Close(), os.RemoveAll(dir)) },
	}, nil
}
