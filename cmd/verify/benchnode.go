package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/millrace-dev/millrace/cmd/internal/orders"
)

// nodeRow is one size of body: the node beside the single-purpose program, medians of alternating rounds.
type nodeRow struct {
	Body         int     `json:"records_per_body"`
	NodeRate     float64 `json:"node_records_per_second"`
	CeilingRate  float64 `json:"ceiling_records_per_second"`
	Ratio        float64 `json:"node_to_ceiling"`
	NodeCPU      float64 `json:"node_cpu_us_per_record"`
	CeilingCPU   float64 `json:"ceiling_cpu_us_per_record"`
	NodeAlloc    float64 `json:"node_allocations_per_record"`
	CeilingAlloc float64 `json:"ceiling_allocations_per_record"`
}

// The shape of the measurement.
const (
	benchRounds  = 3
	benchSeconds = 2
	benchClients = 8
)

func runBenchNode(ctx context.Context, args []string) int {
	return exit("bench-node", benchNode(ctx, args))
}

// benchNode measures HTTP → filter → deduplicate → file with bodies of 1, 100 and 1,000 records. Both programs answer a
// body when its rows are synced, and both run as child processes, one at a time, in turn.
func benchNode(ctx context.Context, args []string) error {
	if _, err := (grammar{}).parse(args); err != nil {
		return err
	}
	s, err := open()
	if err != nil {
		return err
	}
	bin := filepath.Join(s.Root, "out", "bin") + string(filepath.Separator)
	if err := s.run(ctx, "go", "build", "-pgo=auto", "-o", bin, "./cmd/millrace", "./bench/ceiling"); err != nil {
		return err
	}
	var rows []nodeRow
	var table [][]string
	p := s.NewProgress("bench-node", 3*benchRounds*2)
	for _, size := range []int{1, 100, 1000} {
		row, err := benchBody(ctx, s.Root, bin, size, func() { p.Step(1) })
		if err != nil {
			return fmt.Errorf("bodies of %d: %w", size, err)
		}
		rows = append(rows, row)
		table = append(table, []string{
			fmt.Sprint(size), fmt.Sprintf("%.0f", row.NodeRate), fmt.Sprintf("%.0f", row.CeilingRate),
			fmt.Sprintf("%.2f", row.Ratio), fmt.Sprintf("%.2f", row.NodeCPU), fmt.Sprintf("%.2f", row.CeilingCPU),
			fmt.Sprintf("%.1f", row.NodeAlloc), fmt.Sprintf("%.1f", row.CeilingAlloc),
		})
	}
	p.Close()
	s.Printf("HTTP → filter → deduplicate → file; every body is answered after fsync; %d clients; medians of %d rounds of %d s\n",
		benchClients, benchRounds, benchSeconds)
	s.Table([]string{"records a body", "node rec/s", "ceiling rec/s", "ratio", "node µs CPU/rec", "ceiling µs CPU/rec", "node allocs/rec", "ceiling allocs/rec"}, table)
	return s.WriteJSON("bench-node.json", rows)
}

// sample is one round of one program.
type sample struct{ rate, cpu, alloc float64 }

func benchBody(ctx context.Context, root, bin string, size int, step func()) (nodeRow, error) {
	var node, ceiling []sample
	for round := range benchRounds {
		x, err := benchRound(ctx, root, bin, []string{"run"}, size, round)
		if err != nil {
			return nodeRow{}, fmt.Errorf("node: %w", err)
		}
		step()
		y, err := benchRound(ctx, root, bin, nil, size, round)
		if err != nil {
			return nodeRow{}, fmt.Errorf("ceiling: %w", err)
		}
		step()
		node, ceiling = append(node, x), append(ceiling, y)
	}
	r := nodeRow{
		Body:     size,
		NodeRate: median(node, func(s sample) float64 { return s.rate }), CeilingRate: median(ceiling, func(s sample) float64 { return s.rate }),
		NodeCPU: median(node, func(s sample) float64 { return s.cpu }), CeilingCPU: median(ceiling, func(s sample) float64 { return s.cpu }),
		NodeAlloc: median(node, func(s sample) float64 { return s.alloc }), CeilingAlloc: median(ceiling, func(s sample) float64 { return s.alloc }),
	}
	r.Ratio = r.NodeRate / r.CeilingRate
	return r, nil
}

func median[T any](all []T, of func(T) float64) float64 {
	values := make([]float64, len(all))
	for i, x := range all {
		values[i] = of(x)
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// benchRound runs one program on fresh data: the node, when it is given its command and flags, or else the ceiling.
func benchRound(ctx context.Context, root, bin string, node []string, size, round int) (out sample, err error) {
	dir, err := os.MkdirTemp("", "millrace-bench-")
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	address, err := orders.FreeAddress()
	if err != nil {
		return out, err
	}
	cmd := exec.CommandContext(ctx, bin+"ceiling", address, filepath.Join(dir, "ledger.ndjson"))
	if node != nil {
		args := slices.Concat(node, []string{"--data", dir, "--listen", address, filepath.Join(root, "bench", "orders")})
		cmd = exec.CommandContext(ctx, bin+"millrace", args...)
	}
	if err := cmd.Start(); err != nil {
		return out, err
	}
	defer func() {
		err = errors.Join(err, cmd.Process.Signal(os.Interrupt))
		_ = cmd.Wait() // it was interrupted: the error says so
	}()
	b := &load{base: "http://" + address, size: size, round: round}
	if err := b.await(ctx); err != nil {
		return out, err
	}
	cpu, alloc := cpuSeconds(cmd.Process.Pid), b.mallocs(ctx)
	elapsed, err := b.run(ctx)
	if err != nil {
		return out, err
	}
	n := float64(b.sent.Load())
	out.rate = n / elapsed.Seconds()
	out.cpu = (cpuSeconds(cmd.Process.Pid) - cpu) * 1e6 / n
	out.alloc = (b.mallocs(ctx) - alloc) / n
	return out, nil
}

// load sends bodies of new orders for a while.
type load struct {
	base        string
	size, round int
	sent        atomic.Int64
	next        atomic.Int64
	client      http.Client
}

func (b *load) await(ctx context.Context) error {
	b.client.Transport = &http.Transport{MaxIdleConnsPerHost: 2 * benchClients}
	for range 1000 {
		if text, err := b.get(ctx, "/readyz"); err == nil && text != nil {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return errors.New("not ready within 10 s")
}

func (b *load) get(ctx context.Context, path string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, b.base+path, nil)
	if err != nil {
		return nil, err
	}
	resp, err := b.client.Do(req)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(resp.Body)
	if resp.StatusCode != http.StatusOK {
		err = errors.Join(err, errors.New(resp.Status))
	}
	return append(text, '\n'), errors.Join(err, resp.Body.Close())
}

// mallocs reads how many objects the program has allocated.
func (b *load) mallocs(ctx context.Context) float64 {
	text, err := b.get(ctx, "/metrics")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "go_memstats_mallocs_total "); ok {
			n, _ := strconv.ParseFloat(strings.TrimSpace(rest), 64) // 0 shows as a wrong row
			return n
		}
	}
	return 0
}

func (b *load) run(ctx context.Context) (time.Duration, error) {
	started := time.Now()
	errs := make([]error, benchClients)
	var all sync.WaitGroup
	for i := range benchClients {
		all.Go(func() {
			for time.Since(started) < benchSeconds*time.Second && errs[i] == nil {
				errs[i] = b.post(ctx)
			}
		})
	}
	all.Wait()
	b.client.CloseIdleConnections()
	return time.Since(started), errors.Join(errs...)
}

// post sends one body; every tenth order is too large for the sink's filter.
func (b *load) post(ctx context.Context) error {
	first := int(b.next.Add(int64(b.size))) - b.size
	var body bytes.Buffer
	for i := first; i < first+b.size; i++ {
		fmt.Fprintf(&body, `{"order_id":"o-%d-%d","customer":"c-%d","amount":%d,"placed_at":"2026-01-01T00:00:00Z"}`+"\n", b.round, i, i%100, 1+i*97%1100)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, b.base+"/orders", &body)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-ndjson")
	resp, err := b.client.Do(req)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(resp.Body)
	if resp.StatusCode != http.StatusOK {
		err = errors.Join(err, fmt.Errorf("%s: %s", resp.Status, text))
	}
	b.sent.Add(int64(b.size))
	return errors.Join(err, resp.Body.Close())
}

// cpuSeconds is the user and system time of a process so far.
func cpuSeconds(pid int) float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.ParseFloat(fields[11], 64) // the kernel writes numbers
	system, _ := strconv.ParseFloat(fields[12], 64)
	return (user + system) / 100
}
