package orders

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// Node is a node as a child process: it can be killed at any moment and started again on the same data.
type Node struct {
	Binary  string // the millrace binary
	Package string // package folder
	Data    string // data folder; outputs of the package's file sinks lie in it
	Address string // host:port
	Env     []string
	Args    []string // further arguments of millrace run

	log  *os.File
	cmd  *exec.Cmd
	gone chan struct{}
	exit error
}

// startTimeout bounds how long a node may take to become ready.
const startTimeout = 30 * time.Second

// FreeAddress returns a loopback address that nobody listens on.
func FreeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	return l.Addr().String(), l.Close()
}

// Start starts the process and returns when it is ready. It fails when the process ends before.
func (n *Node) Start(ctx context.Context) error {
	if err := n.launch(); err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(ctx, startTimeout)
	defer stop()
	for {
		select {
		case <-n.gone:
			return fmt.Errorf("node ended before it was ready: %w; its log is %s", n.exit, n.logPath())
		case <-ctx.Done():
			return fmt.Errorf("node is not ready: %w", context.Cause(ctx))
		case <-time.After(10 * time.Millisecond):
		}
		if n.ready(ctx) {
			return nil
		}
	}
}

func (n *Node) launch() error {
	log, err := os.OpenFile(n.logPath(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("open node log: %w", err)
	}
	n.log = log
	args := append([]string{"run", "--data", n.Data, "--listen", n.Address}, n.Args...)
	n.cmd = exec.Command(n.Binary, append(args, n.Package)...)
	n.cmd.Stdout, n.cmd.Stderr = log, log
	n.cmd.Env = append(os.Environ(), n.Env...)
	if err := n.cmd.Start(); err != nil {
		return errors.Join(fmt.Errorf("start node: %w", err), log.Close())
	}
	gone, cmd := make(chan struct{}), n.cmd
	n.gone = gone
	go func() {
		n.exit = cmd.Wait()
		close(gone)
	}()
	return nil
}

func (n *Node) logPath() string { return filepath.Join(n.Data, "node.log") }

func (n *Node) ready(ctx context.Context) bool {
	status, _, err := n.Get(ctx, "/readyz")
	return err == nil && status == http.StatusOK
}

// Get asks the node.
func (n *Node) Get(ctx context.Context, path string) (int, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+n.Address+path, nil)
	if err != nil {
		return 0, nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<22))
	return resp.StatusCode, body, errors.Join(err, resp.Body.Close())
}

// Gone is closed when the process has ended.
func (n *Node) Gone() <-chan struct{} { return n.gone }

// Status is the exit status of a process that has ended, -1 when a signal ended it.
func (n *Node) Status() int { return n.cmd.ProcessState.ExitCode() }

// Signal sends the process a signal.
func (n *Node) Signal(s os.Signal) error { return ignoreDone(n.cmd.Process.Signal(s)) }

// Kill ends the process with SIGKILL and waits until it is gone.
func (n *Node) Kill() error {
	err := n.cmd.Process.Kill()
	<-n.gone
	return errors.Join(ignoreDone(err), n.log.Close())
}

// Stop asks the process to end with SIGTERM and returns its exit error.
func (n *Node) Stop(ctx context.Context) error {
	if err := n.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return errors.Join(ignoreDone(err), n.log.Close())
	}
	select {
	case <-n.gone:
		return errors.Join(n.exit, n.log.Close())
	case <-ctx.Done():
		return errors.Join(fmt.Errorf("node does not stop: %w", context.Cause(ctx)), n.Kill())
	}
}

func ignoreDone(err error) error {
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}
