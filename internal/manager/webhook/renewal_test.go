package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// newest returns the newest Secret of a kind, "authority" or "server", or an empty one when there is none.
func (l *environment) newest(t *testing.T, kind string) *corev1.Secret {
	t.Helper()
	names := secretNamesOf(l.binary, l.namespace)
	list := &corev1.SecretList{}
	require.NoError(t, l.client.List(t.Context(), list, client.InNamespace(l.namespace),
		client.MatchingLabels{"name": map[string]string{"authority": names.authority, "server": names.server}[kind]}))
	if len(list.Items) == 0 {
		return &corev1.Secret{}
	}
	newest := slices.MaxFunc(list.Items, func(a, b corev1.Secret) int { return a.CreationTimestamp.Compare(b.CreationTimestamp.Time) })
	return &newest
}

// servedCertificate returns the serial number of the certificate that a replica shows.
func (l *environment) servedCertificate(t *testing.T, r *replica) string {
	t.Helper()
	leaf, err := handshake(t.Context(), r.address, nil)
	require.NoError(t, err)
	return leaf.SerialNumber.String()
}

// handshake makes a handshake as an API server does that trusts the bundle; without one, it trusts everybody.
func handshake(ctx context.Context, address string, bundle []byte) (*x509.Certificate, error) {
	config := &tls.Config{InsecureSkipVerify: bundle == nil}
	if bundle != nil {
		config.RootCAs = x509.NewCertPool()
		config.RootCAs.AppendCertsFromPEM(bundle)
	}
	dialer := &tls.Dialer{NetDialer: &net.Dialer{Timeout: timeout}, Config: config}
	connection, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	defer func() { _ = connection.Close() }()
	return connection.(*tls.Conn).ConnectionState().PeerCertificates[0], nil
}

// renew does what an admin does for a new authority, and returns its Secret. Secrets are told apart by their age in seconds.
func (l *environment) renew(t *testing.T) *corev1.Secret {
	t.Helper()
	old := l.newest(t, "authority")
	require.Eventually(t, func() bool { return time.Since(old.CreationTimestamp.Time) > 1500*time.Millisecond }, timeout, interval)
	patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"issued-at-time":"0"}}}`))
	require.Eventually(t, func() bool {
		if l.newest(t, "authority").Name != old.Name {
			return true
		}
		// Again and again: the secrets manager puts the label right if it is set after its first read and before its second.
		assert.NoError(t, l.client.Patch(t.Context(), old.DeepCopy(), patch))
		return false
	}, timeout, quickTiming().reconcileInterval)
	return l.newest(t, "authority")
}

// signed reports whether the newest server certificate is signed by the newest authority.
func (l *environment) signed(t *testing.T) bool {
	t.Helper()
	authority, server := parseBundle(l.newest(t, "authority").Data["ca.crt"]), parseBundle(l.newest(t, "server").Data["tls.crt"])
	return len(authority) == 1 && len(server) == 1 && server[0].CheckSignatureFrom(authority[0]) == nil
}

// waitRenewed waits until nothing is left of authorities but the newest, and every replica shows the newest certificate.
func (l *environment) waitRenewed(t *testing.T, replicas ...*replica) {
	t.Helper()
	require.Eventually(t, func() bool {
		return string(l.mutating(t).Webhooks[0].ClientConfig.CABundle) == string(l.newest(t, "authority").Data["ca.crt"])
	}, timeout, interval, "logs:\n%s", replicas[0].logs)
	require.Eventually(t, func() bool { return l.signed(t) }, timeout, interval)
	newest := parseBundle(l.newest(t, "server").Data["tls.crt"])[0].SerialNumber.String()
	for _, r := range replicas {
		assert.Equal(t, newest, l.servedCertificate(t, r))
	}
	// Secrets that are lost in the middle of a renewal may be made again in part before the rest is found missing: such a part is outdated.
	require.Eventually(t, func() bool { return len(l.secrets(t)) == 3 }, timeout, interval, "an authority, its bundle and a server certificate are left")
}

// traffic is requests through the API server without a pause, and handshakes by API servers that lag behind.
type traffic struct {
	requests, handshakes atomic.Int64
	stop                 func() []string
}

// maxLag is how late the slowest of these API servers sees a change.
const maxLag = 1500 * time.Millisecond

func (l *environment) startTraffic(t *testing.T, replicas ...*replica) *traffic {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	tr := &traffic{}
	var mutex sync.Mutex
	var failures []string
	fail := func(format string, args ...any) {
		mutex.Lock()
		defer mutex.Unlock()
		failures = append(failures, fmt.Sprintf(format, args...))
	}
	var workers sync.WaitGroup
	for range 2 {
		workers.Go(func() {
			for ctx.Err() == nil {
				if tuned, err := l.tuned(ctx); (err != nil || !tuned) && ctx.Err() == nil {
					fail("request: tuned: %t: %v", tuned, err)
				}
				tr.requests.Add(1)
			}
		})
	}
	workers.Go(func() { l.runHandshakes(ctx, replicas, tr, fail) })
	tr.stop = sync.OnceValue(func() []string {
		cancel()
		workers.Wait()
		return failures
	})
	t.Cleanup(func() { tr.stop() })
	return tr
}

// runHandshakes simulates two API servers for each replica: one that sees every change at once, one that lags behind.
func (l *environment) runHandshakes(ctx context.Context, replicas []*replica, tr *traffic, fail func(string, ...any)) {
	type observation struct {
		time   time.Time
		bundle []byte
	}
	var seen []observation
	for ctx.Err() == nil {
		current := &admissionregistrationv1.MutatingWebhookConfiguration{}
		if err := l.client.Get(ctx, client.ObjectKey{Name: l.configName()}, current); err != nil {
			continue
		}
		seen = append(seen, observation{time: time.Now(), bundle: current.Webhooks[0].ClientConfig.CABundle})
		for len(seen) > 1 && time.Since(seen[0].time) > maxLag {
			seen = seen[1:]
		}
		for _, r := range replicas {
			for who, observation := range map[string]observation{"quick": seen[len(seen)-1], "slow": seen[0]} {
				_, err := handshake(ctx, r.address, observation.bundle)
				// No API server is promised anything that lags behind for longer, as this test may on a busy machine.
				if err != nil && ctx.Err() == nil && time.Since(observation.time) < quickTiming().trustDelay {
					fail("handshake with %s, bundle of the %s API server: %v", r.address, who, err)
				}
				tr.handshakes.Add(1)
			}
		}
	}
}

func (tr *traffic) check(t *testing.T) {
	t.Helper()
	assert.Empty(t, tr.stop(), "no request may fail")
	assert.Greater(t, tr.requests.Load(), int64(100))
	assert.Greater(t, tr.handshakes.Load(), int64(100))
	t.Logf("%d requests and %d handshakes", tr.requests.Load(), tr.handshakes.Load())
}

func (l *environment) startTwo(t *testing.T) (leader, standby *replica) {
	t.Helper()
	leader = l.start(t, quickTiming(), nil, configMapWebhook("tune", tune))
	leader.waitReady(t)
	standby = l.start(t, quickTiming(), nil, configMapWebhook("tune", tune))
	standby.waitReady(t)
	l.waitTuned(t)
	return leader, standby
}

func testRenewal(t *testing.T, l *environment) {
	leader, standby := l.startTwo(t)
	first := l.newest(t, "authority")
	tr := l.startTraffic(t, leader, standby)

	second := l.renew(t)
	require.Eventually(t, func() bool {
		bundle := string(l.mutating(t).Webhooks[0].ClientConfig.CABundle)
		return bundle == string(second.Data["ca.crt"])+string(first.Data["ca.crt"])
	}, timeout, interval, "both authorities must be named")
	assert.False(t, l.signed(t), "API servers must get time to see the new authority")
	require.Eventually(t, func() bool { return l.signed(t) }, timeout, interval)
	assert.GreaterOrEqual(t, l.newest(t, "server").CreationTimestamp.Sub(second.CreationTimestamp.Time), quickTiming().trustDelay-time.Second)
	l.waitRenewed(t, leader, standby)
	tr.check(t)
}

func testRenewalDuringRenewal(t *testing.T, l *environment) {
	leader, standby := l.startTwo(t)
	first := l.newest(t, "authority")
	tr := l.startTraffic(t, leader, standby)

	second := l.renew(t)
	require.False(t, l.signed(t), "this test is about the time before")
	third := l.renew(t)
	require.NotEqual(t, second.Name, third.Name)
	require.Eventually(t, func() bool { return l.signed(t) }, timeout, interval)
	assert.Never(t, func() bool {
		return !bytes.Contains(l.mutating(t).Webhooks[0].ClientConfig.CABundle, first.Data["ca.crt"])
	}, quickTiming().loadDelay/3, interval, "replicas need time to load the new certificate, until then they show one of the first authority")
	l.waitRenewed(t, leader, standby)
	assert.Equal(t, third.Name, l.newest(t, "authority").Name)
	tr.check(t)
}

func testLostCertificates(t *testing.T, l *environment) {
	leader, standby := l.startTwo(t)
	before := l.servedCertificate(t, leader)
	require.NoError(t, l.client.DeleteAllOf(t.Context(), &corev1.Secret{}, client.InNamespace(l.namespace)))
	require.Eventually(t, func() bool {
		return l.servedCertificate(t, leader) != before && l.servedCertificate(t, leader) == l.servedCertificate(t, standby)
	}, timeout, interval)
	l.waitRenewed(t, leader, standby)
	l.waitTuned(t)
}
