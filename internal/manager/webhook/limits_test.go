package webhook

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// narrowLimits let one request be read and one be handled at once.
func narrowLimits() *limits {
	return &limits{
		bodyTimeout: time.Minute, wait: 10 * time.Millisecond, retryAfter: time.Second, reading: make(turns, 1), handling: make(turns, 1),
	}
}

// callSlowly opens a connection and sends the beginning of a request.
func callSlowly(t *testing.T, address string) *tls.Conn {
	t.Helper()
	connection, err := (&tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}}).DialContext(t.Context(), "tcp", strings.TrimPrefix(address, "https://"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = connection.Close() })
	_, err = fmt.Fprintf(connection, "POST /tune HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n{", len(emptyReview))
	require.NoError(t, err)
	return connection.(*tls.Conn)
}

func answerOn(t *testing.T, connection *tls.Conn) *http.Response {
	t.Helper()
	answer, err := http.ReadResponse(bufio.NewReader(connection), nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = answer.Body.Close() })
	return answer
}

func TestServer_BodyThatNeverComes(t *testing.T) {
	limits := narrowLimits()
	limits.bodyTimeout = 50 * time.Millisecond
	address, _, _, registry := startServer(t, limits, allow)
	assert.Equal(t, http.StatusRequestTimeout, answerOn(t, callSlowly(t, address)).StatusCode)
	assert.InDelta(t, 1, countsOf(t, registry)["failed"], 0)
}

// deadlines records what a handler asks of its connection.
type deadlines struct {
	http.ResponseWriter
	set []time.Time
}

func (d *deadlines) SetReadDeadline(deadline time.Time) error {
	d.set = append(d.set, deadline)
	return nil
}

func TestLimits_DeadlineIsForTheBodyAlone(t *testing.T) {
	w := &deadlines{ResponseWriter: httptest.NewRecorder()}
	request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/tune", strings.NewReader(emptyReview))
	defaultLimits().around(http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
		if !assert.Len(t, w.set, 2) {
			return
		}
		assert.WithinDuration(t, time.Now().Add(10*time.Second), w.set[0], 10*time.Second)
		assert.Zero(t, w.set[1], "the connection is kept for longer")
		body, err := io.ReadAll(request.Body)
		assert.NoError(t, err)
		assert.JSONEq(t, emptyReview, string(body))
	}), func() { t.Error("failed") }).ServeHTTP(w, request)
}

func TestServer_SlowCallersBeyondTheLimit(t *testing.T) {
	address, _, _, registry := startServer(t, narrowLimits(), allow)
	first := callSlowly(t, address)
	var second *http.Response
	require.Eventually(t, func() bool { // the first may not have got there before the second
		second = answerOn(t, callWhole(t, address))
		return second.StatusCode == http.StatusTooManyRequests
	}, 10*time.Second, 10*time.Millisecond)
	assert.Equal(t, "1", second.Header.Get("Retry-After"))
	assert.Positive(t, countsOf(t, registry)["failed"])

	_, err := first.Write([]byte(emptyReview[1:]))
	require.NoError(t, err)
	assert.Equal(t, http.StatusOK, answerOn(t, first).StatusCode, "who was first is answered all the same")
}

func callWhole(t *testing.T, address string) *tls.Conn {
	t.Helper()
	connection := callSlowly(t, address)
	_, err := connection.Write([]byte(emptyReview[1:]))
	require.NoError(t, err)
	return connection
}

// A rest.RESTClient is what API servers call webhooks with.
func TestServer_APIServersRetryWhatIsTooMuch(t *testing.T) {
	entered, leave := make(chan struct{}, 1), make(chan struct{})
	address, _, _, registry := startServer(t, narrowLimits(), func(context.Context, admission.Request) admission.Response {
		select {
		case entered <- struct{}{}:
			<-leave
		default:
		}
		return admission.Allowed("")
	})
	first := callWhole(t, address)
	require.Eventually(t, func() bool { return len(entered) == 1 }, 10*time.Second, time.Millisecond)
	go func() {
		for counts, err := gatherAnswers(registry); err == nil && counts["failed"] == 0; counts, err = gatherAnswers(registry) {
			time.Sleep(time.Millisecond)
		}
		close(leave)
	}()

	scheme := runtime.NewScheme()
	require.NoError(t, admissionv1.AddToScheme(scheme))
	client, err := rest.RESTClientFor(&rest.Config{
		Host: address, TLSClientConfig: rest.TLSClientConfig{Insecure: true},
		ContentConfig: rest.ContentConfig{GroupVersion: &admissionv1.SchemeGroupVersion, NegotiatedSerializer: serializer.NewCodecFactory(scheme).WithoutConversion()},
	})
	require.NoError(t, err)
	raw, err := client.Post().AbsPath("/tune").Body(&admissionv1.AdmissionReview{Request: &admissionv1.AdmissionRequest{UID: "2"}}).Do(t.Context()).Raw()
	require.NoError(t, err, "it was told 429 at first, and asked again")
	var review admissionv1.AdmissionReview
	require.NoError(t, json.Unmarshal(raw, &review))
	assert.True(t, review.Response.Allowed)
	assert.Equal(t, http.StatusOK, answerOn(t, first).StatusCode)
	counts := countsOf(t, registry)
	assert.InDelta(t, 2, counts["allowed"], 0)
	assert.Positive(t, counts["failed"])
}
