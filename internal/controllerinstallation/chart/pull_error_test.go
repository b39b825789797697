package chart

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/controllerinstallation/problem"
)

func TestPull_TransientErrors(t *testing.T) {
	blob := func(status int) func(http.ResponseWriter, *http.Request, http.Handler) {
		return func(answer http.ResponseWriter, request *http.Request, registry http.Handler) {
			if isBlob(request) {
				answer.WriteHeader(status)
				return
			}
			registry.ServeHTTP(answer, request)
		}
	}
	all := func(status int, body string) func(http.ResponseWriter, *http.Request, http.Handler) {
		return func(answer http.ResponseWriter, _ *http.Request, _ http.Handler) {
			answer.WriteHeader(status)
			_, _ = io.WriteString(answer, body)
		}
	}
	for name, test := range map[string]struct {
		between func(http.ResponseWriter, *http.Request, http.Handler)
		message string
	}{
		"too many requests":                          {all(429, `{"errors":[{"code":"TOOMANYREQUESTS"}]}`), " answers 429 Too Many Requests"},
		"too many requests, said to be unknown":      {all(429, `{"errors":[{"code":"NAME_UNKNOWN"}]}`), " answers 429 Too Many Requests"},
		"an error of the registry":                   {all(500, ""), " answers 500 Internal Server Error"},
		"a proxy without a registry":                 {all(502, "<html>"), " answers 502 Bad Gateway"},
		"a registry that is down":                    {all(503, ""), " answers 503 Service Unavailable"},
		"too many requests for the chart":            {blob(429), " answers 429 Too Many Requests"},
		"an error of what keeps the charts":          {blob(503), " answers 503 Service Unavailable"},
		"an answer of which nobody knows what it is": {all(418, ""), " answers 418 I'm a teapot"},
		"a connection that is cut": {
			func(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) }, "EOF",
		},
		"a connection that is cut within the chart": {
			func(answer http.ResponseWriter, request *http.Request, registry http.Handler) {
				if !isBlob(request) {
					registry.ServeHTTP(answer, request)
					return
				}
				answer.Header().Set("Content-Length", "7")
				_, _ = io.WriteString(answer, "arc")
				_ = http.NewResponseController(answer).Flush()
				panic(http.ErrAbortHandler)
			}, "read failed",
		},
	} {
		t.Run(name, func(t *testing.T) {
			registry := newRegistry(t)
			registry.push(t, "example", "good", []byte("archive"))
			registry.intercept(test.between)
			puller := &Puller{}
			_, err := puller.Pull(t.Context(), registry.artifact("example:good"))
			require.ErrorContains(t, err, "pulling chart "+registry.host()+"/example:good: ")
			assert.ErrorContains(t, err, test.message)
			_, is := problem.In(err)
			assert.False(t, is, "it goes away by itself: %v", err)

			registry.intercept(nil)
			assert.Equal(t, "archive", string(mustPull(t, puller, registry.artifact("example:good")).Archive), "nothing of it is kept")
		})
	}
}

func TestPull_ConnectionRefused(t *testing.T) {
	registry := newRegistry(t)
	artifact := registry.artifact("example:good")
	registry.Close()
	_, err := (&Puller{}).Pull(t.Context(), artifact)
	assert.EqualError(t, err, fmt.Sprintf("pulling chart %s: %s: dial tcp %s: connect: connection refused", artifact.Reference, registry.host(), registry.host()))
	_, is := problem.In(err)
	assert.False(t, is)
}

func TestPull_Timeout(t *testing.T) {
	registry := newRegistry(t)
	registry.push(t, "example", "good", []byte("archive"))
	stuck := func(answer http.ResponseWriter, request *http.Request, registry http.Handler) {
		if isBlob(request) {
			answer.Header().Set("Content-Length", "7")
			_, _ = io.WriteString(answer, "arc")
			_ = http.NewResponseController(answer).Flush()
			<-request.Context().Done()
			return
		}
		registry.ServeHTTP(answer, request)
	}
	registry.intercept(stuck)

	_, err := (&Puller{Timeout: 200 * time.Millisecond}).Pull(t.Context(), registry.artifact("example:good"))
	require.ErrorIs(t, err, context.DeadlineExceeded, "by the time that a pull may take")
	_, is := problem.In(err)
	assert.False(t, is)

	ctx, cancel := context.WithCancel(t.Context())
	registry.intercept(func(answer http.ResponseWriter, request *http.Request, registry http.Handler) {
		cancel()
		stuck(answer, request, registry)
	})
	_, err = (&Puller{}).Pull(ctx, registry.artifact("example:good"))
	require.ErrorIs(t, err, context.Canceled, "by the context")
	_, is = problem.In(err)
	assert.False(t, is)
}

func TestPull_ErrorCodes(t *testing.T) {
	registry := newRegistry(t)
	for body, message := range map[string]string{
		`{"errors":[{"code":"MANIFEST_UNKNOWN"}]}`:                       "the registry does not have it (400)",
		`{"errors":[{"code":"UNSUPPORTED"},{"code":"NAME_UNKNOWN"}]}`:    "the registry does not have it (400)",
		`{"errors":[{"code":"NAME_INVALID","message":"don't like it"}]}`: "the reference is malformed in the eyes of the registry (400)",
	} {
		registry.respondWith(http.StatusBadRequest, body)
		_, err := (&Puller{}).Pull(t.Context(), registry.artifact("example:good"))
		assertProblem(t, err, problem.OCIChartCannotBePulled, "chart "+registry.host()+"/example:good cannot be pulled: "+message)
	}
}

func TestPull_Redirects(t *testing.T) {
	registry, storage := newRegistry(t), newRegistry(t)
	registry.push(t, "example", "good", []byte("archive"))
	storage.push(t, "example", "good", []byte("archive"))
	registry.intercept(func(answer http.ResponseWriter, request *http.Request, handler http.Handler) {
		if _, _, hasBasic := request.BasicAuth(); !hasBasic {
			answer.Header().Set("Www-Authenticate", "Basic")
			answer.WriteHeader(http.StatusUnauthorized)
		} else if isBlob(request) {
			http.Redirect(answer, request, storage.URL+request.URL.Path+"?signature=secret", http.StatusTemporaryRedirect)
		} else {
			handler.ServeHTTP(answer, request)
		}
	})
	artifact := registry.artifact("example:good")
	artifact.DockerConfig = basicConfig(registry.host(), "robot", "secret")
	artifact.CABundle = append(artifact.CABundle, storage.bundle()...)

	assert.Equal(t, "archive", string(mustPull(t, &Puller{}, artifact).Archive))
	for _, request := range storage.takeRequests() {
		assert.Empty(t, request.Header.Get("Authorization"), "the password is the registry's")
	}

	storage.respondWith(http.StatusServiceUnavailable, "")
	_, err := (&Puller{}).Pull(t.Context(), artifact)
	assert.EqualError(t, err, "pulling chart "+artifact.Reference+": "+storage.host()+" answers 503 Service Unavailable")
	storage.intercept(func(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) })
	_, err = (&Puller{}).Pull(t.Context(), artifact)
	assert.EqualError(t, err, "pulling chart "+artifact.Reference+": "+storage.host()+": EOF")
	storage.Close()
	_, err = (&Puller{}).Pull(t.Context(), artifact)
	require.ErrorContains(t, err, storage.host())
	assert.NotContains(t, err.Error(), "signature")
}

func TestPull_HTTPSOnly(t *testing.T) {
	const message = " cannot be pulled: the registry speaks plain HTTP, but must speak HTTPS"
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	reference := strings.TrimPrefix(plain.URL, "http://") + "/example:good"
	_, err := (&Puller{}).Pull(t.Context(), Artifact{Reference: reference})
	assertProblem(t, err, problem.OCIChartCannotBePulled, "chart "+reference+message)

	registry := newRegistry(t)
	registry.intercept(func(answer http.ResponseWriter, request *http.Request, _ http.Handler) {
		http.Redirect(answer, request, plain.URL+request.URL.Path, http.StatusFound)
	})
	_, err = (&Puller{}).Pull(t.Context(), registry.artifact("example:good"))
	assertProblem(t, err, problem.OCIChartCannotBePulled, "chart "+registry.host()+"/example:good"+message)

	registry.intercept(func(answer http.ResponseWriter, request *http.Request, _ http.Handler) {
		http.Redirect(answer, request, request.URL.Path, http.StatusFound)
	})
	_, err = (&Puller{}).Pull(t.Context(), registry.artifact("example:good"))
	assert.ErrorContains(t, err, "too many redirects")
}
