package accept

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
)

// fakeAPIServer is the part of a kube-apiserver that Calico's code needs: it stores objects without schemas or RBAC, and supports names, resource
// versions and merge patches. A real one validates the objects; this one lets Calico's own clients run.
type fakeAPIServer struct {
	server *httptest.Server

	lock    sync.Mutex
	version int
	// objects by their paths.
	objects map[string]map[string]any
}

func newFakeAPIServer() *fakeAPIServer {
	a := &fakeAPIServer{objects: map[string]map[string]any{}}
	a.server = httptest.NewServer(a)
	return a
}

func (a *fakeAPIServer) close() {
	a.server.CloseClientConnections() // of watches
	a.server.Close()
}

// put stores an object under its path, e.g. /api/v1/nodes/node-1.
func (a *fakeAPIServer) put(path string, object map[string]any) {
	a.lock.Lock()
	defer a.lock.Unlock()
	a.store(path, object)
}

// collection returns the objects of a collection, e.g. /api/v1/nodes, sorted by name.
func (a *fakeAPIServer) collection(collection string) []map[string]any {
	a.lock.Lock()
	defer a.lock.Unlock()
	return a.list(collection)
}

func (a *fakeAPIServer) list(collection string) []map[string]any {
	found := []map[string]any{}
	for _, path := range slices.Sorted(maps.Keys(a.objects)) {
		if name, ok := strings.CutPrefix(path, collection+"/"); ok && !strings.Contains(name, "/") {
			found = append(found, a.objects[path])
		}
	}
	return found
}

func (a *fakeAPIServer) store(path string, object map[string]any) {
	object = clone(object) // the caller's stays as it is
	metadata, ok := object["metadata"].(map[string]any)
	if !ok {
		metadata = map[string]any{}
		object["metadata"] = metadata
	}
	a.version++
	metadata["resourceVersion"] = strconv.Itoa(a.version)
	if metadata["uid"] == nil {
		metadata["uid"] = fmt.Sprintf("00000000-0000-0000-0000-%012d", a.version)
		metadata["creationTimestamp"] = time.Now().UTC().Format(time.RFC3339)
	}
	a.objects[path] = object
}

// clone copies what came from JSON.
func clone(object map[string]any) map[string]any {
	copied := make(map[string]any, len(object))
	for key, value := range object {
		if inner, ok := value.(map[string]any); ok {
			value = clone(inner)
		}
		copied[key] = value
	}
	return copied
}

func (a *fakeAPIServer) ServeHTTP(writer http.ResponseWriter, request *http.Request) {
	writer.Header().Set("Content-Type", "application/json")
	path := strings.TrimSuffix(request.URL.Path, "/status")
	if path == "/version" {
		writeJSON(writer, http.StatusOK, map[string]any{"major": "1", "minor": "29", "gitVersion": "v1.29.15"})
		return
	}
	if request.URL.Query().Get("watch") == "true" {
		writer.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(writer).Flush()
		<-request.Context().Done()
		return
	}
	body, err := read(request)
	if err != nil {
		writeError(writer, http.StatusBadRequest, "BadRequest", err.Error())
		return
	}
	a.lock.Lock()
	defer a.lock.Unlock()
	switch request.Method {
	case http.MethodGet:
		a.get(writer, request, path)
	case http.MethodPost:
		path += "/" + nameOf(body)
		if _, exists := a.objects[path]; exists {
			writeError(writer, http.StatusConflict, "AlreadyExists", path)
			return
		}
		a.store(path, body)
		writeJSON(writer, http.StatusCreated, a.objects[path])
	default:
		a.change(writer, request, path, body)
	}
}

func (a *fakeAPIServer) get(writer http.ResponseWriter, request *http.Request, path string) {
	if object, exists := a.objects[path]; exists {
		writeJSON(writer, http.StatusOK, object)
		return
	}
	// A path of a collection has an odd number of segments after the version, or the namespace.
	segments := strings.Split(strings.Trim(path, "/"), "/")
	base := 2
	if segments[0] == "apis" {
		base = 3
	}
	if len(segments) > base+2 && segments[base] == "namespaces" {
		base += 2
	}
	if len(segments) != base+1 {
		writeError(writer, http.StatusNotFound, "NotFound", path)
		return
	}
	items := a.list(path)
	if name, ok := strings.CutPrefix(request.URL.Query().Get("fieldSelector"), "metadata.name="); ok {
		items = slices.DeleteFunc(items, func(item map[string]any) bool { return nameOf(item) != name })
	}
	list := map[string]any{"metadata": map[string]any{"resourceVersion": strconv.Itoa(a.version)}, "items": items}
	if len(items) > 0 { // clients are content with an empty list that does not say of what
		list["apiVersion"], list["kind"] = items[0]["apiVersion"], fmt.Sprint(items[0]["kind"], "List")
	} else {
		list["apiVersion"], list["kind"] = "v1", "List"
	}
	writeJSON(writer, http.StatusOK, list)
}

// read returns the body of a request, if any. Built-in kinds come as JSON or in Kubernetes' binary encoding.
func read(request *http.Request) (map[string]any, error) {
	raw, err := io.ReadAll(request.Body)
	if err != nil || len(raw) == 0 || request.Method == http.MethodDelete {
		return nil, err
	}
	if request.Header.Get("Content-Type") == runtime.ContentTypeProtobuf {
		object, _, err := scheme.Codecs.UniversalDeserializer().Decode(raw, nil, nil)
		if err != nil {
			return nil, err
		}
		if raw, err = runtime.Encode(scheme.Codecs.LegacyCodec(scheme.Scheme.PrioritizedVersionsAllGroups()...), object); err != nil {
			return nil, err
		}
	}
	var body map[string]any
	err = json.Unmarshal(raw, &body)
	return body, err
}

func (a *fakeAPIServer) change(writer http.ResponseWriter, request *http.Request, path string, body map[string]any) {
	existing, exists := a.objects[path]
	if !exists {
		writeError(writer, http.StatusNotFound, "NotFound", path)
		return
	}
	switch request.Method {
	case http.MethodDelete:
		delete(a.objects, path)
		writeJSON(writer, http.StatusOK, map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Success"})
		return
	case http.MethodPut:
		if version := versionOf(body); version != "" && version != versionOf(existing) {
			writeError(writer, http.StatusConflict, "Conflict", path)
			return
		}
		a.store(path, body)
	case http.MethodPatch:
		merged := clone(existing)
		merge(merged, body)
		a.store(path, merged)
	default:
		writeError(writer, http.StatusMethodNotAllowed, "MethodNotAllowed", request.Method)
		return
	}
	writeJSON(writer, http.StatusOK, a.objects[path])
}

func merge(into, patch map[string]any) {
	for key, value := range patch {
		inner, isObject := value.(map[string]any)
		existing, wasObject := into[key].(map[string]any)
		switch {
		case value == nil:
			delete(into, key)
		case isObject && wasObject:
			merge(existing, inner)
		default:
			into[key] = value
		}
	}
}

func nameOf(object map[string]any) string { return fieldOf(object, "name") }

func versionOf(object map[string]any) string { return fieldOf(object, "resourceVersion") }

func fieldOf(object map[string]any, field string) string {
	metadata, _ := object["metadata"].(map[string]any)
	value, _ := metadata[field].(string)
	return value
}

func writeJSON(writer http.ResponseWriter, code int, body map[string]any) {
	raw, err := json.Marshal(body)
	if err != nil {
		http.Error(writer, err.Error(), http.StatusInternalServerError)
		return
	}
	writer.WriteHeader(code)
	_, _ = writer.Write(raw)
}

func writeError(writer http.ResponseWriter, code int, reason, message string) {
	writeJSON(writer, code, map[string]any{
		"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason, "message": message,
	})
}
