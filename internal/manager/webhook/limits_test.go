package webhook

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// narrowLimits let one request be handled at once.
func narrowLimits() *limits {
	return &limits{
		bodyTimeout: time.Minute, wait: 10 * time.Millisecond, retryAfter: time.Second, memory: newMemory(1 << 20), handling: make(semaphore, 1),
	}
}

// sendPartialRequest opens a connection and sends the beginning of a request.
func sendPartialRequest(t *testing.T, address string) *tls.Conn {
	t.Helper()
	connection, err := (&tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}}).DialContext(t.Context(), "tcp", strings.TrimPrefix(address, "https://"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = connection.Close() })
	_, err = fmt.Fprintf(connection, "POST /tune HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n{", len(emptyReview))
	require.NoError(t, err)
	return connection.(*tls.Conn)
}

func readResponse(t *testing.T, connection *tls.Conn) *http.Response {
	t.Helper()
	response, err := http.ReadResponse(bufio.NewReader(connection), nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = response.Body.Close() })
	return response
}

func TestServer_BodyTimeout(t *testing.T) {
	limits := narrowLimits()
	limits.bodyTimeout = 50 * time.Millisecond
	address, _, _, registry := startServer(t, limits, allow)
	assert.Equal(t, http.StatusRequestTimeout, readResponse(t, sendPartialRequest(t, address)).StatusCode)
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

func TestLimits_DeadlineLiftedAfterBody(t *testing.T) {
	w := &deadlines{ResponseWriter: httptest.NewRecorder()}
	request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/tune", strings.NewReader(emptyReview))
	defaultLimits().wrap(http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
		if !assert.Len(t, w.set, 2) {
			return
		}
		assert.WithinDuration(t, time.Now().Add(10*time.Second), w.set[0], 10*time.Second)
		assert.Zero(t, w.set[1], "the connection is kept for longer")
		body, err := io.ReadAll(request.Body)
		assert.NoError(t, err)
		assert.JSONEq(t, emptyReview, string(body))
	}), func(err error) { t.Error(err) }).ServeHTTP(w, request)
}

func TestServer_SlowCallers(t *testing.T) {
	limits := defaultLimits()
	address, _, _, registry := startServer(t, limits, allow)
	slow := make([]*tls.Conn, 100)
	for i := range slow {
		slow[i] = sendPartialRequest(t, address)
	}
	require.Eventually(t, func() bool { return used(limits.memory) == len(slow)*minChunk }, 10*time.Second, time.Millisecond, "a slow caller holds no more")
	assert.Equal(t, http.StatusOK, readResponse(t, sendRequest(t, address)).StatusCode)
	assert.Equal(t, map[string]float64{"allowed": 1, "patched": 0, "denied": 0, "failed": 0, "busy": 0}, countsOf(t, registry))
	_, err := slow[0].Write([]byte(emptyReview[1:]))
	require.NoError(t, err)
	assert.Equal(t, http.StatusOK, readResponse(t, slow[0]).StatusCode, "who is slow is answered all the same")
}

func used(m *memory) int {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return m.used
}

func heap() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// Bodies are kept until they are handled, so what waits for that counts as well.
func TestLimits_MemoryOfManyLargeBodies(t *testing.T) {
	const callers, size = 40, 4 << 20
	limits := &limits{
		bodyTimeout: time.Minute, wait: time.Minute, retryAfter: time.Second, memory: newMemory(20 << 20), handling: make(semaphore, 1),
	}
	leave := make(chan struct{})
	server := httptest.NewServer(limits.wrap(http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
		<-leave
		n, err := io.Copy(io.Discard, request.Body)
		assert.NoError(t, err)
		assert.EqualValues(t, size, n)
	}), func(err error) { assert.ErrorIs(t, err, errBusy) }))
	t.Cleanup(server.Close)
	body := make([]byte, size)
	before := heap()
	results := make(chan int, callers)
	for range callers {
		go func() {
			response, err := server.Client().Post(server.URL, "application/json", bytes.NewReader(body))
			if !assert.NoError(t, err, "who is refused is told so") {
				results <- 0
				return
			}
			results <- response.StatusCode
			assert.NoError(t, response.Body.Close())
		}()
	}
	codes := map[int]int{}
	for range callers - 2 {
		codes[<-results]++
	}
	assert.Equal(t, map[int]int{http.StatusTooManyRequests: callers - 2}, codes)
	assert.LessOrEqual(t, used(limits.memory), 10<<20, "one address leaves half of it to others")
	assert.Less(t, heap(), before+32<<20)
	close(leave)
	for range 2 {
		codes[<-results]++
	}
	assert.Equal(t, 2, codes[http.StatusOK])
	assert.Eventually(t, func() bool { return used(limits.memory) == 0 }, 10*time.Second, time.Millisecond)
	assert.Empty(t, limits.memory.byAddress)
}

func TestMemory_LimitPerAddress(t *testing.T) {
	m := newMemory(12)
	assert.False(t, m.acquire("a", 7))
	assert.True(t, m.acquire("a", 6), "half of it")
	assert.False(t, m.acquire("a", 1))
	assert.False(t, m.acquire("b", 4))
	assert.True(t, m.acquire("b", 3), "half of what is left")
	assert.True(t, m.acquire("c", 1))
	m.release("a", 6)
	assert.True(t, m.acquire("b", 1))
	assert.Equal(t, 5, m.used)
	assert.Equal(t, map[string]int{"b": 4, "c": 1}, m.byAddress)
}

func TestRequestBody_Read(t *testing.T) {
	lost := errors.New("lost")
	for sentence, test := range map[string]struct {
		body     io.Reader
		capacity int
		complete bool
		err      error
	}{
		"an empty body":                        {body: strings.NewReader(""), capacity: 2 * maxBody, complete: true},
		"a body of one piece":                  {body: strings.NewReader(strings.Repeat("x", minChunk)), capacity: 2 * maxBody, complete: true},
		"a body of many pieces":                {body: iotest.DataErrReader(strings.NewReader(strings.Repeat("x", 3<<20))), capacity: 2 * maxBody, complete: true},
		"a body that is too long":              {body: strings.NewReader(strings.Repeat("x", maxBody+1)), capacity: 4 * maxBody},
		"a body without room":                  {body: strings.NewReader(strings.Repeat("x", 1<<20)), capacity: 1 << 20, complete: true, err: errBusy},
		"a body that is too long without room": {body: strings.NewReader(strings.Repeat("x", maxBody+1)), capacity: 1 << 20, err: errBusy},
		"a body that ends early":               {body: io.MultiReader(strings.NewReader("x"), iotest.ErrReader(io.ErrUnexpectedEOF)), capacity: 2 * maxBody, err: io.ErrUnexpectedEOF},
		"a body that cannot be read":           {body: io.MultiReader(strings.NewReader("x"), iotest.ErrReader(lost)), capacity: 2 * maxBody, err: lost},
		"a body without room, that ends early": {body: io.MultiReader(strings.NewReader("x"), iotest.ErrReader(lost)), capacity: minChunk, err: errBusy},
	} {
		t.Run(sentence, func(t *testing.T) {
			r := &requestBody{memory: newMemory(test.capacity)}
			complete, err := r.read(test.body)
			require.ErrorIs(t, err, test.err)
			assert.Equal(t, test.complete, complete)
			r.free()
			assert.Zero(t, r.memory.used)
		})
	}
}

// sendOversizedRequest sends one byte more than the server reads, and leaves open whether there are more.
func sendOversizedRequest(t *testing.T, address string) net.Conn {
	t.Helper()
	connection, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = connection.Close() })
	_, err = fmt.Fprintf(connection, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", maxBody+100, strings.Repeat("x", maxBody+1))
	require.NoError(t, err)
	return connection
}

func TestLimits_DeadlineKeptForOversizedBody(t *testing.T) {
	limits := defaultLimits()
	limits.bodyTimeout = 2 * time.Second
	server := httptest.NewServer(limits.wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), func(err error) { t.Error(err) }))
	t.Cleanup(server.Close)
	connection := sendOversizedRequest(t, server.Listener.Addr().String())
	require.NoError(t, connection.SetReadDeadline(time.Now().Add(time.Minute)))
	reader := bufio.NewReader(connection)
	response, err := http.ReadResponse(reader, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = response.Body.Close() })
	assert.True(t, response.Close)
	_, err = reader.ReadByte()
	assert.ErrorIs(t, err, io.EOF, "the server ends the connection")
}

func sendRequest(t *testing.T, address string) *tls.Conn {
	t.Helper()
	connection := sendPartialRequest(t, address)
	_, err := connection.Write([]byte(emptyReview[1:]))
	require.NoError(t, err)
	return connection
}

// A rest.RESTClient is what API servers call webhooks with.
func TestServer_BusyIsRetried(t *testing.T) {
	entered, leave := make(chan struct{}, 1), make(chan struct{})
	address, _, _, registry := startServer(t, narrowLimits(), func(context.Context, admission.Request) admission.Response {
		select {
		case entered <- struct{}{}:
			<-leave
		default:
		}
		return admission.Allowed("")
	})
	first := sendRequest(t, address)
	require.Eventually(t, func() bool { return len(entered) == 1 }, 10*time.Second, time.Millisecond)
	go func() {
		for counts, err := gatherResults(registry); err == nil && counts["busy"] == 0; counts, err = gatherResults(registry) {
			time.Sleep(time.Millisecond)
		}
		close(leave)
	}()

	scheme := apiruntime.NewScheme()
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
	assert.Equal(t, http.StatusOK, readResponse(t, first).StatusCode)
	counts := countsOf(t, registry)
	assert.InDelta(t, 2, counts["allowed"], 0)
	assert.Positive(t, counts["busy"])
	assert.Zero(t, counts["failed"])
}
