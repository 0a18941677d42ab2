package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

const (
	embeddedPayload = 8 << 20
	embeddedStart   = 10 * time.Second
)

// Embedded is a NATS server in this process, on a random port of 127.0.0.1,
// behind a random password that exists only in memory. It keeps nothing on
// disk, takes no signals and writes no log.
type Embedded struct {
	server         *server.Server
	user, password string
}

// StartEmbedded starts the server and waits until it takes connections.
func StartEmbedded() (*Embedded, error) { return startEmbedded(embeddedPayload) }

func startEmbedded(maxPayload int32) (*Embedded, error) {
	e := &Embedded{user: "privcom", password: nonce(24)}
	s, err := server.NewServer(&server.Options{
		ServerName:      "privcom-" + nonce(4),
		Host:            "127.0.0.1",
		Port:            server.RANDOM_PORT,
		NoLog:           true,
		NoSigs:          true,
		NoSystemAccount: true,
		Username:        e.user,
		Password:        e.password,
		MaxPayload:      maxPayload,
		MaxControlLine:  4096,
	})
	if err != nil {
		return nil, fmt.Errorf("cluster: embedded NATS server: %w", err)
	}
	e.server = s
	s.Start()
	if !s.ReadyForConnections(embeddedStart) {
		e.Shutdown()
		return nil, errors.New("cluster: the embedded NATS server took no connection within 10 s; is loopback networking allowed here?")
	}
	return e, nil
}

// URL is the server's address. It holds no password: see Options.
func (e *Embedded) URL() string { return e.server.ClientURL() }

// Options connects to this server under the given client name.
func (e *Embedded) Options(name string, logger *slog.Logger) ConnectOptions {
	return ConnectOptions{URL: e.URL(), Name: name, Logger: logger, user: e.user, password: e.password}
}

// Connect opens a connection to this server.
func (e *Embedded) Connect(ctx context.Context, name string, logger *slog.Logger) (*Conn, error) {
	return Connect(ctx, e.Options(name, logger))
}

// Traffic is the number of bytes that clients have sent to the server and that
// it has sent to clients.
func (e *Embedded) Traffic() (in, out int64) {
	v, err := e.server.Varz(nil)
	if err != nil {
		return 0, 0
	}
	return v.InBytes, v.OutBytes
}

// SlowConsumers is the number of clients that the server cut off for being slow.
func (e *Embedded) SlowConsumers() int64 { return e.server.NumSlowConsumers() }

// Shutdown stops the server and waits for its goroutines.
func (e *Embedded) Shutdown() {
	e.server.Shutdown()
	e.server.WaitForShutdown()
}
