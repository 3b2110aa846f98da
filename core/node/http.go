package node

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The bounds of the HTTP surface.
const (
	maxHeaderBytes    = 64 << 10
	headerTimeout     = 10 * time.Second
	idleTimeout       = 2 * time.Minute
	bodyTimeout       = 5 * time.Minute // a client that sends slower than this holds a connection and up to maxBodyBytes for nothing
	maxBodyBytes      = 32 << 20
	maxMessageBytes   = 1 << 20
	defaultReplyLimit = 10 * time.Minute
)

// checkListen refuses addresses that others can reach: they need transport security and a token.
func checkListen(address string) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("listen %s: %w", address, err)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return fmt.Errorf("listen %s: port %q: want a number from 0 to 65535", address, port)
	}
	if host == "localhost" {
		return nil
	}
	ip, err := netip.ParseAddr(host)
	if err != nil || !ip.IsLoopback() {
		return fmt.Errorf("listen %s: not a loopback address; anything else needs TLS and a token, which this version does not offer", address)
	}
	return nil
}

// queried answers 400 to a query that cannot be read, has other keys than these, or one of them twice: a filter that is misspelled must not
// list everything, nor a wish to see a plan apply it.
func queried(h http.HandlerFunc, keys ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		q, err := url.ParseQuery(r.URL.RawQuery)
		if err != nil {
			reply(w, http.StatusBadRequest, problem{fmt.Sprintf("read query: %v", err)})
			return
		}
		for _, key := range slices.Sorted(maps.Keys(q)) {
			if !slices.Contains(keys, key) {
				reply(w, http.StatusBadRequest, problem{fmt.Sprintf("query: unknown key %q; known: %s", key, cmp.Or(strings.Join(keys, ", "), "none"))})
				return
			}
			if given := len(q[key]); given > 1 {
				reply(w, http.StatusBadRequest, problem{fmt.Sprintf("query: %s is given %d times: want one", key, given)})
				return
			}
		}
		h(w, r)
	}
}

// isTrue reads a value of a query that is true, or false, which it also is when it is not there. A key without a value is neither.
func isTrue(q url.Values, key string) (bool, error) {
	switch text := q.Get(key); {
	case text == "true":
		return true, nil
	case text == "false" || !q.Has(key):
		return false, nil
	default:
		return false, fmt.Errorf("%s %q: want true or false", key, text)
	}
}

// mux is the port's surface while certain channels are open.
func (n *Node) mux(open []*channel) *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", n.livez)
	mux.HandleFunc("GET /readyz", n.readyz)
	mux.Handle("GET /metrics", n.metrics.handler())
	mux.HandleFunc("GET /api/package", queried(n.apiPackage))
	mux.HandleFunc("GET /api/sources", queried(n.apiSources))
	mux.HandleFunc("POST /api/sources/{source}/reread", queried(n.apiReread))
	n.flowRoutes(mux, open)
	for _, x := range n.intakes {
		n.route(mux, x.path, x.handler.ServeHTTP)
	}
	return mux
}

// serve opens the port.
func (n *Node) serve() error {
	n.server = &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			n.boundBody(w, r)
			n.flows.open.Observe().mux.ServeHTTP(w, r)
		}),
		MaxHeaderBytes: maxHeaderBytes, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout,
	}
	go func() { // the edge to net/http, which runs its own goroutines anyway
		if err := n.server.Serve(n.listener); !errors.Is(err, http.ErrServerClosed) {
			n.end(fmt.Errorf("serve HTTP: %w", err))
		}
	}()
	return nil
}

// boundBody lets the body of a request come for bodyTimeout at most. The bound ends with the body: an answer may take longer. The server's
// own ReadTimeout does not, and would cancel a worker's long poll.
func (n *Node) boundBody(w http.ResponseWriter, r *http.Request) {
	if r.Body == http.NoBody {
		return
	}
	control := http.NewResponseController(w)
	if err := control.SetReadDeadline(time.Now().Add(n.opts.slowest)); err != nil {
		n.log.Warn("body without a time bound", "reason", err)
		return
	}
	r.Body = &boundedBody{r.Body, control}
}

// boundedBody takes the bound of its connection away when it has been read to its end.
type boundedBody struct {
	io.ReadCloser
	control *http.ResponseController
}

func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		if failed := b.control.SetReadDeadline(time.Time{}); failed != nil {
			return n, failed
		}
	}
	return n, err
}

// route registers a path of the package with its latency.
func (n *Node) route(mux *http.ServeMux, path string, h http.HandlerFunc) {
	seconds := n.metrics.requests.WithLabelValues(path)
	mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
		started := time.Now()
		n.requests.Add(1)
		defer n.requests.Add(-1)
		defer func() { seconds.Observe(time.Since(started).Seconds()) }()
		if !n.ready.Load() {
			reply(w, http.StatusServiceUnavailable, problem{"node is not ready"})
			return
		}
		if coding := r.Header.Get("Content-Encoding"); coding != "" && coding != "identity" {
			reply(w, http.StatusUnsupportedMediaType, problem{fmt.Sprintf("content encoding %q: bodies are taken as they are, without compression", coding)})
			return
		}
		if n.full.Load() {
			w.Header().Set("Retry-After", "5")
			reply(w, http.StatusInsufficientStorage, problem{"disk is below its low-water mark; nothing is accepted"})
			return
		}
		h(w, r)
	})
}

// problem is the body of a refusal.
type problem struct {
	Error string `json:"error"`
}

// reply writes JSON. When the connection is gone the client learns nothing, and sends again.
func reply(w http.ResponseWriter, status int, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		status, text = http.StatusInternalServerError, []byte(`{"error":"reply cannot be encoded"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n')) // see above
}

func (n *Node) apiPackage(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, map[string]any{"name": n.pkg.Name, "identity": n.active(), "lanes": n.pkg.Node.Lanes, "store": n.storeName()})
}
