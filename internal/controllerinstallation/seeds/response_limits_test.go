package seeds

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// writeUntilClosed writes the same again and again, until nobody takes it any more or there is a GiB of it.
func writeUntilClosed(into io.Writer, again string, written *atomic.Int64) {
	block := []byte(strings.Repeat(again, 32<<10/len(again)))
	for written.Load() < 1<<30 {
		n, err := into.Write(block)
		written.Add(int64(n))
		if err != nil {
			return
		}
	}
}

func TestGuard_ResponseTooLarge(t *testing.T) {
	const tooLong, tooMany = "its API server gives an answer of more than 4 MiB", "its API server gives an answer with more than 150000 elements"
	for sentence, tt := range map[string]struct {
		code         int
		begin, again string
		zipped       bool
		want         string
	}{
		"an endless text":                 {200, `{"kind":"NodeList","apiVersion":"v1","metadata":{"continue":"`, "a", false, tooLong},
		"an endless text, zipped":         {200, `{"kind":"NodeList","apiVersion":"v1","metadata":{"continue":"`, "a", true, tooLong},
		"an endless list of objects":      {200, `{"kind":"NodeList","apiVersion":"v1","items":[`, "{},", false, tooMany},
		"an endless list of nothing":      {200, `{"kind":"NodeList","apiVersion":"v1","items":[`, "null,", false, tooMany},
		"lists in lists":                  {200, `{"kind":"NodeList","apiVersion":"v1","items":`, "[", false, tooMany},
		"an endless list, zipped":         {200, `{"kind":"NodeList","apiVersion":"v1","items":[`, "{},", true, tooMany},
		"an endless error":                {500, `{"kind":"Status","apiVersion":"v1","message":"`, "a", false, tooLong},
		"an endless refusal":              {401, `{"kind":"Status","apiVersion":"v1","message":"`, "a", false, tooLong},
		"an endless answer of a proxy":    {503, `{"kind":"Status","apiVersion":"v1"} `, "a", false, "what is in front of its API server answers 503"},
		"an endless list of error causes": {422, `{"kind":"Status","apiVersion":"v1","details":{"causes":[`, "{},", false, tooMany},
	} {
		t.Run(sentence, func(t *testing.T) {
			f, c, b := newTestSession(t, Options{})
			var written atomic.Int64
			f.respondWith(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				var into io.Writer = w
				if tt.zipped {
					w.Header().Set("Content-Encoding", "gzip")
					zip := gzip.NewWriter(w)
					defer func() { _ = zip.Close() }()
					into = zip
				}
				w.WriteHeader(tt.code)
				_, _ = io.WriteString(into, tt.begin)
				writeUntilClosed(into, tt.again, &written)
			})
			failure := unreachable(t, c.client.List(t.Context(), &corev1.NodeList{}), "a")
			assert.Contains(t, failure.Error(), "reaching seed a: "+tt.want)
			assert.Same(t, failure, b.openFailure(), "nobody else asks for the next one at once")
			f.respondWith(nil)
			assert.Same(t, failure, unreachable(t, c.client.Get(t.Context(), client.ObjectKey{Name: "a"}, &corev1.Node{}), "a"))
			if !tt.zipped {
				assert.Less(t, written.Load(), int64(256<<20), "the seed is not listened to any longer")
			}
		})
	}
}

// Who can ask for less does so, and nobody else notices.
func TestGuard_PagedResponseTooLarge(t *testing.T) {
	f, c, b := newTestSession(t, Options{})
	var written atomic.Int64
	f.respondWith(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"kind":"NodeList","apiVersion":"v1","items":[{"metadata":{"annotations":{"a":"`)
		writeUntilClosed(w, "a", &written)
	})
	err := c.client.List(Paged(t.Context()), &corev1.NodeList{})
	failure, is := errors.AsType[*ResponseTooLarge](err)
	require.True(t, is, "%v", err)
	assert.EqualError(t, failure, "asking seed a: its API server gives an answer of more than 4 MiB")
	_, isUnreachable := errors.AsType[*Unreachable](err)
	assert.False(t, isUnreachable)
	assert.Nil(t, b.openFailure())
	f.respondWith(nil)
	require.NoError(t, c.client.List(t.Context(), &corev1.NodeList{}))

	// One that was unreachable does not become reachable by it, and others may try then.
	b.trip(errors.New("silent"))
	b.until = time.Time{}
	f.respondWith(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		written.Store(0)
		writeUntilClosed(w, "[", &written)
	})
	_, is = errors.AsType[*ResponseTooLarge](c.client.List(Paged(t.Context()), &corev1.NodeList{}))
	assert.True(t, is)
	assert.NotNil(t, b.openFailure())
	f.respondWith(nil)
	require.NoError(t, c.client.List(t.Context(), &corev1.NodeList{}))
	assert.Nil(t, b.openFailure())
}

// Others may have got answers meanwhile: a seed that is in other hands answers what it likes.
func TestGuard_ResponseTooLargeWhileOthersSucceed(t *testing.T) {
	f, c, b := newTestSession(t, Options{})
	begun, goOn := make(chan struct{}), make(chan struct{})
	f.respondWith(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/version" {
			_, _ = io.WriteString(w, `{"gitVersion":"v1.36.3"}`)
			return
		}
		_, _ = io.WriteString(w, `{"kind":"NodeList","items":[`)
		_ = http.NewResponseController(w).Flush()
		close(begun)
		<-goOn
		_, _ = w.Write(bytes.Repeat([]byte("{},"), maxElements))
	})
	result := make(chan error, 1)
	go func() { result <- c.client.List(t.Context(), &corev1.NodeList{}) }()
	<-begun
	_, err := c.version(t.Context())
	require.NoError(t, err)
	close(goOn)
	assert.Same(t, unreachable(t, <-result, "a"), b.openFailure())
}

func TestGuard_LargeObject(t *testing.T) {
	f, c, b := newTestSession(t, Options{})
	f.respondWith(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"kind":"NodeList","apiVersion":"v1","items":[{"metadata":{"annotations":{"a":"`+strings.Repeat("a", 3<<20)+`"}}}]}`)
	})
	require.NoError(t, c.client.List(t.Context(), &corev1.NodeList{}))
	assert.Nil(t, b.openFailure())
}

// Otherwise a seed that never ends an answer would have everybody wait for it again each time its pause is over.
func TestGuard_PartialResponse(t *testing.T) {
	f, c, b := newTestSession(t, Options{RequestTimeout: shortTimeout})
	f.respondWith(func(w http.ResponseWriter, r *http.Request) {
		writePartialResponse(w)
		noResponse(w, r)
	})
	unreachable(t, c.client.List(t.Context(), &corev1.NodeList{}), "a")
	require.Equal(t, time.Second, b.backoff)

	b.until = time.Time{}
	unreachable(t, c.client.List(t.Context(), &corev1.NodeList{}), "a")
	assert.Equal(t, 2*time.Second, b.backoff, "pauses grow, although each answer began")

	f.respondWith(nil)
	b.until = time.Time{}
	require.NoError(t, c.client.List(t.Context(), &corev1.NodeList{}))
	assert.Nil(t, b.openFailure())
}

func TestVersion_TooLong(t *testing.T) {
	f, c, _ := newTestSession(t, Options{})
	f.respondWith(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"gitVersion":"v1.36.3-`+strings.Repeat("a", 1<<20)+`"}`)
	})
	_, err := c.version(t.Context())
	assert.EqualError(t, err, "what answers there is no API server")
}

func TestGuard_DropsLongWarnings(t *testing.T) {
	for size, want := range map[int]int{100: 1, 100_000: 0} {
		header := http.Header{"Warning": {`299 - "` + strings.Repeat("a", size) + `"`}}
		dropLongWarnings(header)
		assert.Len(t, header.Values("Warning"), want)
	}
}
