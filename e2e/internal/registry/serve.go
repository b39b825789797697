package registry

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Fault is a fault of all requests. The zero value is none.
type Fault struct {
	// Status is the status of all responses, e.g. 503.
	Status int
	// Hang delays all responses until the client cancels or the fault is cleared.
	Hang bool
	// Corrupt returns layers that do not match their digests.
	Corrupt bool

	cleared chan struct{}
}

// SetFault replaces the present fault.
func (r *Registry) SetFault(fault Fault) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.fault.cleared != nil {
		close(r.fault.cleared)
	}
	fault.cleared = make(chan struct{})
	r.fault = fault
}

// ClearFault removes the fault. Delayed requests are answered.
func (r *Registry) ClearFault() { r.SetFault(Fault{}) }

func (r *Registry) serve(response http.ResponseWriter, request *http.Request) {
	r.mutex.Lock()
	fault := r.fault
	r.requests = append(r.requests, request.Method+" "+request.URL.Path)
	r.mutex.Unlock()
	if fault.Hang {
		select {
		case <-fault.cleared:
		case <-request.Context().Done():
			return
		case <-r.closed:
			return
		}
	}
	switch {
	case fault.Status != 0:
		refuse(response, fault.Status, "UNAVAILABLE", "the registry is out of order")
	case request.URL.Path == "/token":
		r.serveToken(response, request)
	case !r.isAuthorized(request):
		r.challenge(response)
	case request.Method != http.MethodGet && request.Method != http.MethodHead:
		refuse(response, http.StatusMethodNotAllowed, "UNSUPPORTED", "nobody pushes here")
	default:
		r.serveContent(response, request, fault)
	}
}

// isAuthorized reports whether a request may pull.
func (r *Registry) isAuthorized(request *http.Request) bool {
	if r.token != "" {
		return request.Header.Get("Authorization") == "Bearer "+r.token
	}
	return r.user == "" || r.hasPassword(request)
}

func (r *Registry) hasPassword(request *http.Request) bool {
	user, password, given := request.BasicAuth()
	return given && user == r.user && password == r.password
}

func (r *Registry) challenge(response http.ResponseWriter) {
	how := `Basic realm="registry"`
	if r.token != "" {
		how = fmt.Sprintf(`Bearer realm="https://%s/token",service="registry"`, r.address)
	}
	response.Header().Set("WWW-Authenticate", how)
	refuse(response, http.StatusUnauthorized, "UNAUTHORIZED", "authentication required")
}

func (r *Registry) serveToken(response http.ResponseWriter, request *http.Request) {
	if r.token == "" || !r.hasPassword(request) {
		refuse(response, http.StatusUnauthorized, "UNAUTHORIZED", "authentication required")
		return
	}
	response.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(response, `{"token":%q,"expires_in":300}`, r.token)
}

// serveContent implements the distribution specification (opencontainers/distribution-spec, Pull).
func (r *Registry) serveContent(response http.ResponseWriter, request *http.Request, fault Fault) {
	path := strings.Trim(strings.TrimPrefix(request.URL.Path, "/v2"), "/")
	if path == "" {
		return
	}
	elements := strings.Split(path, "/")
	if len(elements) < 3 {
		refuse(response, http.StatusNotFound, "NAME_UNKNOWN", "no such repository")
		return
	}
	repository, kind, reference := strings.Join(elements[:len(elements)-2], "/"), elements[len(elements)-2], elements[len(elements)-1]
	r.mutex.Lock()
	content, mediaType, code := r.blobs[reference], "application/octet-stream", "BLOB_UNKNOWN"
	if kind == "manifests" {
		content, mediaType, code = r.manifests[repository][reference], manifestMediaType, "MANIFEST_UNKNOWN"
	}
	r.mutex.Unlock()
	if content == nil {
		refuse(response, http.StatusNotFound, code, "no such content")
		return
	}
	response.Header().Set("Content-Type", mediaType)
	response.Header().Set("Docker-Content-Digest", digestOf(content))
	if fault.Corrupt && kind == "blobs" {
		content = slices.Clone(content)
		content[len(content)/2] ^= 0xff
	}
	response.Header().Set("Content-Length", strconv.Itoa(len(content)))
	_, _ = response.Write(content) // nothing comes of it for HEAD
}

func refuse(response http.ResponseWriter, status int, code, message string) {
	response.Header().Set("Content-Type", "application/json")
	response.WriteHeader(status)
	_, _ = fmt.Fprintf(response, `{"errors":[{"code":%q,"message":%q}]}`, code, message)
}
