package manager

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// schemeDiscovery is the transport of a client that has no API server: it answers which kinds there are with those of the scheme, as if all of them
// were namespaced, and everything else with 404.
type schemeDiscovery struct{ scheme *runtime.Scheme }

// RoundTrip implements http.RoundTripper.
func (d schemeDiscovery) RoundTrip(request *http.Request) (*http.Response, error) {
	answer, status := d.answer(strings.Trim(request.URL.Path, "/")), http.StatusOK
	if answer == nil {
		answer = &metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound}
		status = http.StatusNotFound
	}
	body, err := json.Marshal(answer)
	if err != nil {
		return nil, fmt.Errorf("answering a request for kinds: %w", err)
	}
	return &http.Response{
		StatusCode: status, Status: http.StatusText(status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: request,
		Header: http.Header{"Content-Type": []string{runtime.ContentTypeJSON}}, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}, nil
}

func (d schemeDiscovery) answer(path string) any {
	switch path {
	case "api":
		return &metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}}
	case "apis":
		return d.groups()
	}
	group := strings.TrimPrefix(strings.TrimPrefix(path, "apis/"), "api/")
	version, err := schema.ParseGroupVersion(group)
	if err != nil || !d.scheme.IsVersionRegistered(version) {
		return nil
	}
	list := &metav1.APIResourceList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "APIResourceList"}, GroupVersion: version.String()}
	for kind := range d.scheme.KnownTypes(version) {
		plural, singular := meta.UnsafeGuessKindToResource(version.WithKind(kind))
		list.APIResources = append(list.APIResources, metav1.APIResource{
			Name: plural.Resource, SingularName: singular.Resource, Namespaced: true, Kind: kind, Verbs: metav1.Verbs{"get", "list", "watch"},
		})
	}
	return list
}

func (d schemeDiscovery) groups() *metav1.APIGroupList {
	list := &metav1.APIGroupList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "APIGroupList"}}
	byName := map[string]int{}
	for _, version := range d.scheme.PrioritizedVersionsAllGroups() {
		if version.Group == "" || version.Version == runtime.APIVersionInternal {
			continue
		}
		found := metav1.GroupVersionForDiscovery{GroupVersion: version.String(), Version: version.Version}
		index, ok := byName[version.Group]
		if !ok {
			index = len(list.Groups)
			byName[version.Group] = index
			list.Groups = append(list.Groups, metav1.APIGroup{Name: version.Group, PreferredVersion: found})
		}
		list.Groups[index].Versions = append(list.Groups[index].Versions, found)
	}
	return list
}
