package cluster

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

// startServer starts a server with options of the test's own.
func startServer(t *testing.T, o *server.Options) *server.Server {
	t.Helper()
	s := launch(t, o)
	t.Cleanup(func() { stop(s) })
	return s
}

func stop(s *server.Server) {
	s.Shutdown()
	s.WaitForShutdown()
}

// launch starts a server that the test stops itself.
func launch(t *testing.T, o *server.Options) *server.Server {
	t.Helper()
	o.Host, o.NoLog, o.NoSigs = "127.0.0.1", true, true
	if o.Port == 0 {
		o.Port = server.RANDOM_PORT
	}
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	if !s.ReadyForConnections(5 * time.Second) {
		t.Fatal("server does not start")
	}
	return s
}

func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// tryConnect says whether a message makes the round trip.
func tryConnect(t *testing.T, o ConnectOptions) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	c, err := Connect(ctx, o)
	if err != nil {
		return err
	}
	defer c.Close()
	return c.FlushWithContext(ctx)
}

func TestConnectRefusesBeforeDialling(t *testing.T) {
	for url, want := range map[string]string{
		"nats://nats.internal:4222":                  "--insecure-nats",
		"nats://127.0.0.1:4222,nats://10.0.0.7:4222": "not a loopback address",
		"nats://user:secret-word@127.0.0.1:4222":     "holds a user or password",
		"http://127.0.0.1:4222":                      "scheme",
		"nats://":                                    "must read",
		"":                                           "must read",
	} {
		err := tryConnect(t, ConnectOptions{URL: url})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", url, err)
		}
		if err != nil && strings.Contains(err.Error(), "secret-word") {
			t.Errorf("the error shows the password: %v", err)
		}
	}
	for name, o := range map[string]ConnectOptions{
		"missing CA":        {CAFile: "/nonexistent/ca.pem"},
		"CA without PEM":    {CAFile: writeFile(t, "ca.pem", "hello")},
		"half a key pair":   {CertFile: "/nonexistent/cert.pem"},
		"missing creds":     {CredsFile: "/nonexistent/user.creds"},
		"two logins":        {CredsFile: writeFile(t, "a", "x"), PasswordFile: writeFile(t, "b", "u:p")},
		"bad nkey":          {NkeyFile: writeFile(t, "seed", "hello")},
		"password of three": {PasswordFile: writeFile(t, "p", "a\nb\nc")},
		"no password":       {PasswordFile: writeFile(t, "p", "user:")},
	} {
		o.URL = "nats://127.0.0.1:1"
		if err := tryConnect(t, o); err == nil || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestConnectWaitsForServer(t *testing.T) {
	t.Parallel()
	s := startServer(t, &server.Options{})
	port := s.Addr().(*net.TCPAddr).Port
	stop(s)
	url := s.ClientURL()
	if err := tryConnect(t, ConnectOptions{URL: url}); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("without a server: %v", err)
	}
	done := make(chan error, 1)
	go func() { done <- tryConnect(t, ConnectOptions{URL: url}) }()
	time.Sleep(200 * time.Millisecond)
	startServer(t, &server.Options{Port: port})
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func TestLogins(t *testing.T) {
	t.Run("password", func(t *testing.T) {
		s := startServer(t, &server.Options{Username: "shard", Password: "open sesame"})
		for text, ok := range map[string]bool{"shard:open sesame\n": true, "shard\nopen sesame\n": true, "shard:wrong": false} {
			err := tryConnect(t, ConnectOptions{URL: s.ClientURL(), PasswordFile: writeFile(t, "password", text)})
			if ok != (err == nil) || !ok && !errors.Is(err, nats.ErrAuthorization) {
				t.Errorf("%q: %v", text, err)
			}
		}
	})
	t.Run("nkey", func(t *testing.T) {
		user, seed, public := newKey(t, nkeys.CreateUser)
		_ = user
		s := startServer(t, &server.Options{Nkeys: []*server.NkeyUser{{Nkey: public}}})
		if err := tryConnect(t, ConnectOptions{URL: s.ClientURL(), NkeyFile: writeFile(t, "seed", seed)}); err != nil {
			t.Error(err)
		}
	})
	t.Run("creds", func(t *testing.T) {
		operator, _, operatorKey := newKey(t, nkeys.CreateOperator)
		_, _, accountKey := newKey(t, nkeys.CreateAccount)
		account, _, issuer := newKey(t, nkeys.CreateAccount)
		_ = accountKey
		_, seed, userKey := newKey(t, nkeys.CreateUser)
		accountJWT := encodeClaims(t, jwt.NewAccountClaims(issuer), operator)
		userJWT := encodeClaims(t, jwt.NewUserClaims(userKey), account)
		claims := jwt.NewOperatorClaims(operatorKey)
		resolver := &server.MemAccResolver{}
		if err := resolver.Store(issuer, accountJWT); err != nil {
			t.Fatal(err)
		}
		s := startServer(t, &server.Options{TrustedOperators: []*jwt.OperatorClaims{claims}, AccountResolver: resolver})
		creds, err := jwt.FormatUserConfig(userJWT, []byte(seed))
		if err != nil {
			t.Fatal(err)
		}
		if err := tryConnect(t, ConnectOptions{URL: s.ClientURL(), CredsFile: writeFile(t, "user.creds", string(creds))}); err != nil {
			t.Error(err)
		}
	})
}

func newKey(t *testing.T, create func() (nkeys.KeyPair, error)) (pair nkeys.KeyPair, seed, public string) {
	t.Helper()
	pair, err := create()
	if err != nil {
		t.Fatal(err)
	}
	s, err := pair.Seed()
	if err != nil {
		t.Fatal(err)
	}
	if public, err = pair.PublicKey(); err != nil {
		t.Fatal(err)
	}
	return pair, string(s), public
}

func encodeClaims(t *testing.T, c jwt.Claims, signer nkeys.KeyPair) string {
	t.Helper()
	text, err := c.Encode(signer)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// authority is a certificate authority with one certificate for 127.0.0.1.
type authority struct {
	caFile, certFile, keyFile string
	config                    *tls.Config
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(err)
	ca := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	caDER, err := x509.CreateCertificate(rand.Reader, ca, ca, caKey.Public(), caKey)
	must(err)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(err)
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "nats"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: ca.NotBefore, NotAfter: ca.NotAfter, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, leaf, ca, key.Public(), caKey)
	must(err)
	keyDER, err := x509.MarshalECPrivateKey(key)
	must(err)
	text := func(kind string, der []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
	}
	a := authority{
		caFile:   writeFile(t, "ca.pem", text("CERTIFICATE", caDER)),
		certFile: writeFile(t, "cert.pem", text("CERTIFICATE", der)),
		keyFile:  writeFile(t, "key.pem", text("EC PRIVATE KEY", keyDER)),
	}
	pair, err := tls.LoadX509KeyPair(a.certFile, a.keyFile)
	must(err)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM([]byte(text("CERTIFICATE", caDER)))
	a.config = &tls.Config{Certificates: []tls.Certificate{pair}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS12}
	return a
}

func TestTLS(t *testing.T) {
	a, other := newAuthority(t), newAuthority(t)
	s := startServer(t, &server.Options{TLS: true, TLSVerify: true, TLSConfig: a.config, TLSTimeout: 2})
	good := ConnectOptions{URL: "nats://" + s.Addr().String(), CAFile: a.caFile, CertFile: a.certFile, KeyFile: a.keyFile}
	if err := tryConnect(t, good); err != nil {
		t.Fatal(err)
	}
	wrong := good
	wrong.CAFile = other.caFile
	if err := tryConnect(t, wrong); err == nil || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a server of another authority: %v", err)
	}
	plain := startServer(t, &server.Options{})
	wrong = good
	wrong.URL = plain.ClientURL()
	if err := tryConnect(t, wrong); !errors.Is(err, nats.ErrSecureConnWanted) {
		t.Errorf("a server without TLS: %v", err)
	}
}

func TestEmbeddedNeedsPassword(t *testing.T) {
	e, err := StartEmbedded()
	if err != nil {
		t.Fatal(err)
	}
	defer e.Shutdown()
	if err := tryConnect(t, ConnectOptions{URL: e.URL()}); !errors.Is(err, nats.ErrAuthorization) {
		t.Errorf("without a password: %v", err)
	}
	if err := tryConnect(t, e.Options("with", nil)); err != nil {
		t.Error(err)
	}
	host, _, _ := net.SplitHostPort(strings.TrimPrefix(e.URL(), "nats://"))
	if !net.ParseIP(host).IsLoopback() {
		t.Errorf("listens at %s", e.URL())
	}
}

// NATS goes away in the middle of a step and comes back: the step goes on.
func TestServerRestart(t *testing.T) {
	t.Parallel()
	login := func(port int) *server.Options {
		return &server.Options{Port: port, Username: "u", Password: "p", MaxPayload: embeddedPayload, NoSystemAccount: true}
	}
	first, second := launch(t, login(0)), (*server.Server)(nil)
	t.Cleanup(func() {
		stop(first)
		if second != nil {
			stop(second)
		}
	})
	port := first.Addr().(*net.TCPAddr).Port
	g := newGraph(4000, 4, 2, 31)
	tc := newClusterAt(t, g, &Embedded{server: first, user: "u", password: "p"}, func(o *CoordinatorOptions) {
		o.Timeouts.Dead, o.Timeouts.Alone = 400*time.Millisecond, 10*time.Second
	})
	slow := func(o *ShardOptions) { o.slow = 40 * time.Millisecond }
	tc.worker(0, slow)
	tc.worker(1, slow)
	if err := tc.c.WaitShards(tc.ctx); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	tc.wg.Go(func() {
		defer close(done)
		tc.multiply(operand(t, g.n, 16, 1), 0)
	})
	time.Sleep(60 * time.Millisecond)
	stop(first)
	time.Sleep(500 * time.Millisecond)
	second = launch(t, login(port))
	<-done
	tc.multiply(operand(t, g.n, 16, 2), 0)
	if tc.c.o.Conn.Stats().Reconnects == 0 {
		t.Error("the step ended before the server did")
	}
}

// Three servers in a cluster: coordinator and workers on different ones, and one server
// dies for good.
func TestServerCluster(t *testing.T) {
	t.Parallel()
	options := func(name string, routes ...string) *server.Options {
		return &server.Options{
			ServerName: name, Username: "u", Password: "p", MaxPayload: embeddedPayload, NoSystemAccount: true,
			Cluster: server.ClusterOpts{Name: "three", Host: "127.0.0.1", Port: server.RANDOM_PORT}, Routes: server.RoutesFromStr(strings.Join(routes, ",")),
		}
	}
	servers := []*server.Server{launch(t, options("s0"))}
	t.Cleanup(func() {
		for _, s := range servers {
			stop(s)
		}
	})
	seed := "nats://" + servers[0].ClusterAddr().String()
	servers = append(servers, launch(t, options("s1", seed)), launch(t, options("s2", seed)))
	at := func(i int) ConnectOptions {
		urls := []string{servers[i].ClientURL(), servers[(i+1)%3].ClientURL()}
		return ConnectOptions{URL: strings.Join(urls, ","), user: "u", password: "p"}
	}
	g := newGraph(4000, 4, 2, 61)
	tc := newClusterAt(t, g, &Embedded{server: servers[0], user: "u", password: "p"}, nil)
	for i := range 2 {
		conn, err := Connect(tc.ctx, at(i+1))
		if err != nil {
			t.Fatal(err)
		}
		tc.worker(i, func(o *ShardOptions) {
			o.Conn.Close()
			o.Conn = conn
		})
	}
	if err := tc.c.WaitShards(tc.ctx); err != nil {
		t.Fatal(err)
	}
	tc.multiply(operand(t, g.n, 4, 1), 0)
	stop(servers[1])
	tc.multiply(operand(t, g.n, 4, 2), 0)
}
