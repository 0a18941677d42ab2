package cluster

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

// ConnectOptions says how to reach NATS. Secrets come from files, never from
// values: a flag, a log line or a manifest that shows these options shows none.
type ConnectOptions struct {
	// URL is one address or several, separated by commas: nats://host:4222 or
	// tls://host:4222. User and password in it are refused.
	URL string
	// Name is shown by the server beside the connection.
	Name string

	CredsFile    string // .creds file: JWT and nkey seed
	NkeyFile     string // nkey seed file
	PasswordFile string // "user:password" on one line, or user and password on two

	CAFile            string // PEM of the authority that signed the server's certificate
	CertFile, KeyFile string // PEM of the client's own certificate and key

	// Insecure allows a connection without TLS to an address that is not
	// loopback. Rows of Q are private and would cross the network in the clear.
	Insecure bool

	// Logger takes what happens to the connection; nil is silent.
	Logger *slog.Logger

	user, password string                      // of the embedded server
	pause          func(try int) time.Duration // before another try, in tests
}

const (
	backoffFirst = 100 * time.Millisecond
	backoffMost  = 2 * time.Second
)

// Return is how long after a NATS server answers again everybody who had lost it is back
// and has said so: the longest pause between two tries, a dial, a heartbeat.
const Return = backoffMost + 2*time.Second

// Connect opens a connection. While nothing answers it tries again, with
// growing pauses, until ctx ends; what a retry cannot heal (a refused password,
// a certificate of an unknown authority, a bad file) is an error at once.
//
// A connection that breaks later is opened again, for as long as it takes, until
// Close. The end of ctx does not close it, so that a coordinator or shard that
// ends with the same ctx can still say goodbye.
func Connect(ctx context.Context, o ConnectOptions) (*Conn, error) {
	options, err := o.natsOptions()
	if err != nil {
		return nil, err
	}
	c := newConn(o.Logger)
	options = append(options, c.observe()...)
	for try := 0; ; try++ {
		c.Conn, err = nats.Connect(o.URL, options...)
		if err == nil {
			return c, nil
		}
		if !worthRetry(err) {
			return nil, fmt.Errorf("cluster: connect to NATS at %s: %w", o.URL, err)
		}
		c.log.Warn("NATS does not answer, trying again", "url", o.URL, "error", err)
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("cluster: connect to NATS at %s: %w (last answer: %v)", o.URL, context.Cause(ctx), err)
		case <-time.After(o.pauseAfter(try)):
		}
	}
}

func (o ConnectOptions) pauseAfter(try int) time.Duration {
	if o.pause != nil {
		return o.pause(try)
	}
	return backoff(try)
}

// backoff doubles from 100 ms to 2 s; a random part keeps many shards from
// coming back in step.
func backoff(try int) time.Duration {
	d := min(backoffFirst<<min(try, 10), backoffMost)
	return d/2 + rand.N(d/2)
}

func worthRetry(err error) bool {
	var authority x509.UnknownAuthorityError
	var hostname x509.HostnameError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired), errors.Is(err, nats.ErrAuthRevoked),
		errors.Is(err, nats.ErrSecureConnRequired), errors.Is(err, nats.ErrSecureConnWanted), errors.Is(err, nats.ErrNkeysNotSupported),
		errors.As(err, &authority), errors.As(err, &hostname), errors.As(err, &invalid):
		return false
	}
	return true
}

// natsOptions checks the options and turns them into those of the client.
func (o ConnectOptions) natsOptions() ([]nats.Option, error) {
	loopback, scheme, err := o.hosts()
	if err != nil {
		return nil, err
	}
	tls := scheme || o.CAFile != "" || o.CertFile != ""
	if !loopback && !tls && !o.Insecure {
		return nil, fmt.Errorf("cluster: %s is not a loopback address and the connection has no TLS: rows of Q are private and would cross the network in the clear; give a CA file (--nats-ca) or a tls:// URL, or allow it with --insecure-nats", o.URL)
	}
	options := []nats.Option{
		nats.Name(o.Name),
		nats.MaxReconnects(-1),
		nats.CustomReconnectDelay(o.pauseAfter),
		nats.IgnoreAuthErrorAbort(),
		// What could not be sent is repaired by the protocol: nothing old is kept.
		nats.ReconnectBufSize(-1),
		nats.Timeout(5 * time.Second),
		nats.PingInterval(10 * time.Second),
		nats.MaxPingsOutstanding(3),
	}
	if tls {
		options = append(options, nats.Secure())
	} else if !o.Insecure {
		// A loopback server may advertise peers elsewhere: they would be reached without TLS.
		options = append(options, nats.IgnoreDiscoveredServers())
	}
	for _, add := range []func() (nats.Option, error){o.authority, o.certificate, o.login} {
		option, err := add()
		if err != nil {
			return nil, err
		}
		if option != nil {
			options = append(options, option)
		}
	}
	return options, nil
}

// hosts says whether every address is loopback and whether every scheme is TLS.
func (o ConnectOptions) hosts() (loopback, tls bool, err error) {
	loopback, tls = true, true
	for _, one := range strings.Split(o.URL, ",") {
		one = strings.TrimSpace(one)
		if !strings.Contains(one, "://") {
			one = "nats://" + one
		}
		u, err := url.Parse(one)
		if err != nil || u.Hostname() == "" {
			return false, false, errors.New("cluster: the NATS URL must read nats://host:port or tls://host:port")
		}
		if u.User != nil {
			return false, false, errors.New("cluster: the NATS URL holds a user or password; put them in a file (--nats-password-file, --nats-creds or --nats-nkey)")
		}
		switch u.Scheme {
		case "tls", "wss":
		case "nats", "ws":
			tls = false
		default:
			return false, false, fmt.Errorf("cluster: NATS URL scheme %q is not one of nats, tls, ws, wss", u.Scheme)
		}
		ip := net.ParseIP(u.Hostname())
		if u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
			loopback = false
		}
	}
	return loopback, tls, nil
}

func (o ConnectOptions) authority() (nats.Option, error) {
	if o.CAFile == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(o.CAFile)
	if err != nil {
		return nil, fmt.Errorf("cluster: NATS CA file: %w", err)
	}
	if !x509.NewCertPool().AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("cluster: NATS CA file %s holds no PEM certificate", o.CAFile)
	}
	return nats.RootCAs(o.CAFile), nil
}

func (o ConnectOptions) certificate() (nats.Option, error) {
	if (o.CertFile == "") != (o.KeyFile == "") {
		return nil, errors.New("cluster: a NATS client certificate needs both its certificate file and its key file")
	}
	if o.CertFile == "" {
		return nil, nil
	}
	for _, file := range []string{o.CertFile, o.KeyFile} {
		if _, err := os.Stat(file); err != nil {
			return nil, fmt.Errorf("cluster: NATS client certificate: %w", err)
		}
	}
	return nats.ClientCert(o.CertFile, o.KeyFile), nil
}

func (o ConnectOptions) login() (nats.Option, error) {
	given := 0
	for _, file := range []string{o.CredsFile, o.NkeyFile, o.PasswordFile} {
		if file == "" {
			continue
		}
		given++
		if _, err := os.Stat(file); err != nil {
			return nil, fmt.Errorf("cluster: NATS login: %w", err)
		}
	}
	switch {
	case given > 1:
		return nil, errors.New("cluster: give one of a creds file, an nkey seed file and a password file")
	case o.CredsFile != "":
		return nats.UserCredentials(o.CredsFile), nil
	case o.NkeyFile != "":
		option, err := nats.NkeyOptionFromSeed(o.NkeyFile)
		if err != nil {
			return nil, fmt.Errorf("cluster: NATS nkey seed file %s: %w", o.NkeyFile, err)
		}
		return option, nil
	case o.PasswordFile != "":
		user, password, err := readPassword(o.PasswordFile)
		if err != nil {
			return nil, err
		}
		return nats.UserInfo(user, password), nil
	case o.user != "":
		return nats.UserInfo(o.user, o.password), nil
	}
	return nil, nil
}

func readPassword(file string) (user, password string, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", "", fmt.Errorf("cluster: NATS password file: %w", err)
	}
	text = bytes.TrimRight(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), "\n")
	mark := ":"
	if bytes.Contains(text, []byte("\n")) {
		mark = "\n"
	}
	user, password, ok := strings.Cut(string(text), mark)
	if !ok || user == "" || password == "" || strings.Contains(password, "\n") {
		return "", "", fmt.Errorf("cluster: NATS password file %s must hold user:password on one line, or user and password on two", file)
	}
	return user, password, nil
}
