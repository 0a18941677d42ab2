package ops

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// stuckAfter: a main loop that made no turn for this long is not healthy. Its turns are
// less than a second apart, whatever the size of the graph.
const stuckAfter = time.Minute

// Options says what to show.
type Options struct {
	Role    Role
	Version string
	State   func() Snapshot // safe to call at any time, from any goroutine
}

// Server is a running HTTP server.
type Server struct {
	http *http.Server
	addr string
	done chan struct{}
}

// Start listens on addr (host:port; port 0 for any) and serves until Close.
//
//	/healthz   200 while the main loop turns, else 503
//	/readyz    200 when the process can work, else 503 and what it waits for
//	/metrics   in Prometheus' text format
func Start(addr string, o Options) (*Server, error) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		s := o.State()
		if silent := time.Since(s.Alive); !s.Alive.IsZero() && silent > stuckAfter {
			answer(w, http.StatusServiceUnavailable, map[string]any{"healthy": false, "why": fmt.Sprintf("the main loop has not turned for %v", silent.Round(time.Second))})
			return
		}
		answer(w, http.StatusOK, map[string]any{"healthy": true})
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if s := o.State(); len(s.Waiting) > 0 {
			answer(w, http.StatusServiceUnavailable, map[string]any{"ready": false, "waiting_for": s.Waiting})
			return
		}
		answer(w, http.StatusOK, map[string]any{"ready": true})
	})
	mux.Handle("GET /metrics", promhttp.HandlerFor(newRegistry(o.Role, o.Version, o.State), promhttp.HandlerOpts{}))
	return listen(addr, mux)
}

// StartProfiler serves Go's profiles under /debug/pprof/, on loopback only.
func StartProfiler(addr string) (*Server, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("pprof address %q: want host:port: %w", addr, err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("pprof address %q is not loopback: profiles show sizes and times of private work; use 127.0.0.1:PORT and forward the port", addr)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", http.NotFound) // flags name places
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return listen(addr, mux)
}

func answer(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(v) // the client has gone: nobody is left to tell
}

func listen(addr string, h http.Handler) (*Server, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("HTTP address %q: %w; choose another one, or port 0 for any", addr, err)
	}
	s := &Server{http: &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second}, addr: l.Addr().String(), done: make(chan struct{})}
	go func() {
		defer close(s.done)
		_ = s.http.Serve(l) // ends with Close; an accept error leaves the run alone
	}()
	return s, nil
}

// Addr is the address that the server listens on.
func (s *Server) Addr() string { return s.addr }

// Close ends the server; requests under way get a second.
func (s *Server) Close() {
	if s == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if s.http.Shutdown(ctx) != nil {
		_ = s.http.Close() // what is cut off is a scrape
	}
	<-s.done
}
