package seeds

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// newTestSession returns a connection that leads to a front and has been used.
func newTestSession(t *testing.T, options Options) (*testProxy, *session, *breaker) {
	t.Helper()
	env := start(t)
	f := newTestProxy(t, env.config, nil)
	c, b := newSessionTo(t, f.URL, f.certificate(), env.token(t), options)
	require.NoError(t, c.client.List(t.Context(), &corev1.NodeList{}))
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = nil
	return f, c, b
}

func newSessionTo(t *testing.T, server string, authority []byte, token string, options Options) (*session, *breaker) {
	t.Helper()
	options = options.withDefaults()
	b, _, _ := newTestBreaker(t)
	config, err := readKubeconfig(kubeconfig(t, server, authority, token))
	require.NoError(t, err)
	c, err := newSession(&credentials{config: config}, b, options)
	require.NoError(t, err)
	t.Cleanup(c.close)
	return c, b
}

func TestGuard_APIServerErrors(t *testing.T) {
	f, c, b := newTestSession(t, Options{})
	for sentence, answer := range map[string]struct {
		code      int
		plainText bool
	}{
		"it does not know who asks":            {code: http.StatusUnauthorized},
		"it does not allow it":                 {code: http.StatusForbidden},
		"there is no such object":              {code: http.StatusNotFound},
		"the object has changed":               {code: http.StatusConflict},
		"the object is invalid":                {code: http.StatusUnprocessableEntity},
		"it has too much to do":                {code: http.StatusTooManyRequests},
		"it fails":                             {code: http.StatusInternalServerError},
		"its storage is away":                  {code: http.StatusServiceUnavailable},
		"it takes too long":                    {code: http.StatusGatewayTimeout},
		"an API server behind it is away":      {code: http.StatusServiceUnavailable, plainText: true},
		"an API server behind it is no server": {code: http.StatusBadGateway, plainText: true},
	} {
		t.Run(sentence, func(t *testing.T) {
			f.respondWith(func(w http.ResponseWriter, _ *http.Request) {
				if answer.plainText { // as kube-apiserver's aggregator does it
					w.Header().Set("Audit-Id", "c0ffee")
					http.Error(w, "error trying to reach service", answer.code)
					return
				}
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(answer.code)
				_ = json.NewEncoder(w).Encode(metav1.Status{
					TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Code: int32(answer.code),
				})
			})
			err := c.client.List(t.Context(), &corev1.NodeList{})
			var status apierrors.APIStatus
			require.ErrorAs(t, err, &status)
			assert.EqualValues(t, answer.code, status.Status().Code)
			_, is := errors.AsType[*Unreachable](err)
			assert.False(t, is, err)
			assert.Nil(t, b.openFailure())
		})
	}
}

func TestGuard_Unreachable(t *testing.T) {
	for sentence, c := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"a proxy with nobody behind it":   {respondStatus(http.StatusBadGateway), "what is in front of its API server answers 502 (Bad Gateway)"},
		"a proxy that waits for somebody": {respondStatus(http.StatusGatewayTimeout), "what is in front of its API server answers 504 (Gateway Timeout)"},
		"a proxy that asks to come back": {
			func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Retry-After", "1")
				respondStatus(http.StatusServiceUnavailable)(w, r)
			},
			"what is in front of its API server answers 503 (Service Unavailable)",
		},
		"silence": {noResponse, "no answer within 3s"},
		"an end before the answer": {
			func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "the connection broke before there was an answer",
		},
		"an end in the middle of the answer": {
			func(w http.ResponseWriter, _ *http.Request) {
				writePartialResponse(w)
				panic(http.ErrAbortHandler)
			},
			"the connection broke before there was an answer",
		},
		"silence in the middle of the answer": {
			func(w http.ResponseWriter, r *http.Request) {
				writePartialResponse(w)
				noResponse(w, r)
			},
			"no answer within 3s",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			f, session, _ := newTestSession(t, Options{RequestTimeout: shortTimeout})
			f.respondWith(c.answer)

			failure := unreachable(t, session.client.List(t.Context(), &corev1.NodeList{}), "a")

			assert.EqualError(t, failure, "reaching seed a: "+c.want)
			calls := f.count("")
			for range 50 {
				again := unreachable(t, session.client.List(t.Context(), &corev1.NodeList{}), "a")
				assert.Same(t, failure, again)
			}
			assert.Equal(t, 1, calls, "client-go must not repeat it unseen")
			assert.Equal(t, calls, f.count(""), "nobody asks during the pause")
		})
	}
}

// writePartialResponse writes the first part of an answer.
func writePartialResponse(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte(`{"kind": "NodeList", `))
	_ = http.NewResponseController(w).Flush()
}

func TestGuard_ConnectionErrors(t *testing.T) {
	env := start(t)
	other := newTestProxy(t, env.config, nil)
	silent, broken := newUnresponsiveServer(t, false), newUnresponsiveServer(t, true)
	for sentence, c := range map[string]struct{ server, want string }{
		"nobody listens":            {closedAddress(t), "connect: connection refused"},
		"no such host":              {"https://seed.invalid", "looking up seed.invalid: "},
		"somebody takes it, silent": {silent.address, "no answer within 3s"},
		"somebody breaks it off":    {broken.address, "the connection broke before there was an answer"},
		"a foreign certificate":     {other.URL, "x509: certificate signed by unknown authority"},
	} {
		t.Run(sentence, func(t *testing.T) {
			session, _ := newSessionTo(t, c.server, env.config.CAData, "token", Options{RequestTimeout: shortTimeout})
			_, err := session.version(t.Context())
			assert.ErrorContains(t, unreachable(t, err, "a"), "reaching seed a: ")
			assert.Contains(t, err.Error(), c.want)
			_, is := errors.AsType[x509.UnknownAuthorityError](err)
			assert.Equal(t, strings.Contains(sentence, "certificate"), is, "%v", err)
			assert.Equal(t, is, session.refused.Load(), "other credentials may trust it")
		})
	}
	assert.EqualValues(t, 1, silent.connections.Load())
	assert.EqualValues(t, 1, broken.connections.Load())
}

func TestGuard_RESTMapperUnreachable(t *testing.T) {
	thing := &unstructured.Unstructured{}
	thing.SetGroupVersionKind(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Thing"})

	t.Run("when nothing is known yet", func(t *testing.T) {
		c, _ := newSessionTo(t, newUnresponsiveServer(t, true).address, nil, "token", Options{})
		unreachable(t, c.client.Get(t.Context(), client.ObjectKey{Name: "a"}, thing), "a")
		unreachable(t, c.client.Get(t.Context(), client.ObjectKey{Name: "a"}, &corev1.Node{}), "a")
		unreachable(t, c.client.Create(t.Context(), &corev1.Namespace{}), "a")
	})
	t.Run("when some is known", func(t *testing.T) {
		f, c, _ := newTestSession(t, Options{})
		f.respondWith(respondStatus(http.StatusServiceUnavailable))
		unreachable(t, c.client.Get(t.Context(), client.ObjectKey{Name: "a"}, thing), "a")
		unreachable(t, c.client.Get(t.Context(), client.ObjectKey{Name: "a"}, &corev1.Node{}), "a")
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
		unreachable(t, c.client.Patch(t.Context(), node, client.RawPatch(types.MergePatchType, []byte("{}"))), "a")
	})
}

func TestGuard_CallerCancelsEarly(t *testing.T) {
	f, c, b := newTestSession(t, Options{})
	arrived := make(chan struct{}, 1)
	f.respondWith(func(w http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		noResponse(w, r)
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-arrived
		cancel()
	}()
	err := c.client.List(ctx, &corev1.NodeList{})
	require.ErrorIs(t, err, context.Canceled)
	assert.Nil(t, b.openFailure())

	ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	err = c.client.List(ctx, &corev1.NodeList{})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.Nil(t, b.openFailure(), "it had hardly any time")
}

func TestGuard_CallerTimeout(t *testing.T) {
	f, c, b := newTestSession(t, Options{RequestTimeout: 4 * time.Second})
	f.respondWith(noResponse)
	ctx, cancel := context.WithTimeout(t.Context(), 3500*time.Millisecond)
	defer cancel()
	failure := unreachable(t, c.client.List(ctx, &corev1.NodeList{}), "a")
	assert.Same(t, failure, b.openFailure())
}

func TestSession_NoRedirects(t *testing.T) {
	f, c, _ := newTestSession(t, Options{})
	elsewhere := newTestProxy(t, start(t).config, nil)
	f.respondWith(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
	})
	require.Error(t, c.client.List(t.Context(), &corev1.NodeList{}))
	assert.Zero(t, elsewhere.connections.Load())
}

func TestSession_UserAgent(t *testing.T) {
	seen := make(chan string, 100)
	env := start(t)
	f := newTestProxy(t, env.config, func(_ http.ResponseWriter, r *http.Request) bool {
		seen <- r.UserAgent() + " " + r.Header.Get("Accept") + " " + r.Header.Get("Content-Type")
		return false
	})
	connections, err := InCluster("a", testProxyConfig(t, env, f), Options{UserAgent: "trellis/v1"})
	require.NoError(t, err)
	cluster, err := connections.Connect(t.Context(), seedOf("a"))
	require.NoError(t, err)
	require.NoError(t, listNodes(t.Context(), cluster))
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "seen"}}
	require.NoError(t, cluster.Client.Create(t.Context(), namespace, client.DryRunAll))
	close(seen)
	for request := range seen {
		assert.Contains(t, request, "trellis/v1 ")
		assert.NotContains(t, request, "protobuf")
	}
}

// closedAddress returns an address on which nobody listens.
func closedAddress(t *testing.T) string {
	t.Helper()
	h := newUnresponsiveServer(t, true)
	h.close()
	return h.address
}
