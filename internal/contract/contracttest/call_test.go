package contracttest

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
)

func TestCallOf(t *testing.T) {
	tests := map[string]struct {
		target                  Target
		method, url, body, want string
	}{
		"an identifier is replaced": {
			Cloud, http.MethodDelete, "/v2.0/routers/0c1b2f7e-5d0a-4d5e-9a2b-1f3c5d7e9a0b", "", "cloud DELETE /v2.0/routers/{id}",
		},
		"an ID of AWS is replaced": {
			Cloud, http.MethodPut, "/2015-02-01/mount-targets/fsmt-0c1b2f7e5d0a4d5e9/security-groups", "", "cloud PUT /2015-02-01/mount-targets/{id}/security-groups",
		},
		"an identifier without dashes is replaced": {
			Cloud, http.MethodGet, "/v2.1/0c1b2f7e5d0a4d5e9a2b1f3c5d7e9a0b/os-keypairs", "", "cloud GET /v2.1/{id}/os-keypairs",
		},
		"only the keys of a query are kept, sorted": {
			Cloud, http.MethodGet, "/v2.0/networks?name=a&description=b&name=c", "", "cloud GET /v2.0/networks?description&name",
		},
		"the namespace is left out": {
			KubeAPI, http.MethodPatch, "/apis/extensions.gardener.cloud/v1alpha1/namespaces/shoot--test--x2f/infrastructures/one/status", "",
			"kube PATCH /infrastructures/one/status",
		},
		"the state of the last operation is kept": {
			KubeAPI, http.MethodPatch, "/apis/extensions.gardener.cloud/v1alpha1/namespaces/n/infrastructures/one/status",
			`{"status":{"lastOperation":{"state":"Succeeded","progress":100}}}`, "kube PATCH /infrastructures/one/status to Succeeded",
		},
		"other parts of a status are left out": {
			KubeAPI, http.MethodPatch, "/apis/extensions.gardener.cloud/v1alpha1/namespaces/n/infrastructures/one/status",
			`{"status":{"state":{"data":{}}}}`, "kube PATCH /infrastructures/one/status",
		},
		"a checksum in a name is replaced": {
			KubeAPI, http.MethodDelete, "/api/v1/namespaces/n/secrets/managedresource-one-0a1b2c3d", "",
			"kube DELETE /secrets/managedresource-one-{sum}",
		},
		"the suffix of a rotation is replaced": {
			KubeAPI, http.MethodPatch, "/api/v1/namespaces/n/secrets/ca-0a1b2c3d-4e5f6?fieldManager=x", "",
			"kube PATCH /secrets/ca-{sum}?fieldManager",
		},
		"a created object is named": {
			KubeAPI, http.MethodPost, "/apis/resources.gardener.cloud/v1alpha1/namespaces/n/managedresources",
			`{"metadata":{"name":"one"},"spec":{}}`, "kube POST /managedresources/one",
		},
		"a created object is named without its checksum, in any encoding": {
			KubeAPI, http.MethodPost, "/api/v1/namespaces/n/secrets", protobufSecret(t, "one-0a1b2c3d"), "kube POST /secrets/one-{sum}",
		},
		"an action is named, with the name that it gives": {
			Cloud, http.MethodPost, "/", "Action=CreateSubnet&TagSpecification.1.Tag.1.Key=a&TagSpecification.1.Tag.1.Value=b&TagSpecification.1.Tag.2.Key=Name&TagSpecification.1.Tag.2.Value=nodes",
			"cloud POST /?Action=CreateSubnet nodes",
		},
		"an action that gives no name is named alone": {Cloud, http.MethodPost, "/", "Action=DescribeVpcs&Version=1", "cloud POST /?Action=DescribeVpcs"},
		"a cluster-scoped path is kept": {
			KubeAPI, http.MethodPost, "/apis/extensions.gardener.cloud/v1alpha1/clusters", "", "kube POST /apis/extensions.gardener.cloud/v1alpha1/clusters",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			request := httptest.NewRequest(test.method, test.url, nil)
			if strings.HasPrefix(test.body, "Action=") {
				request.Header.Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
			}
			assert.Equal(t, test.want, callOf(test.target, request, []byte(test.body)).String())
		})
	}
}

func TestCall_IsWrite(t *testing.T) {
	for call, want := range map[Call]bool{
		{Target: Cloud, Method: http.MethodGet, Path: "/v2.0/networks"}:           false,
		{Target: Cloud, Method: http.MethodPost, Path: "/v2.0/networks"}:          true,
		{Target: Cloud, Method: http.MethodPost, Path: "/?Action=DescribeVpcs"}:   false,
		{Target: Cloud, Method: http.MethodPost, Path: "/?Action=GetRole"}:        false,
		{Target: Cloud, Method: http.MethodPost, Path: "/?Action=CreateVpc"}:      true,
		{Target: Cloud, Method: http.MethodPost, Path: "/?Action=DeleteSubnet"}:   true,
		{Target: KubeAPI, Method: http.MethodPatch, Path: "/infrastructures/one"}: true,
	} {
		assert.Equal(t, want, call.IsWrite(), call.String())
	}
}

// protobufSecret encodes a Secret as clients encode Kubernetes' own types.
func protobufSecret(t *testing.T, name string) string {
	t.Helper()
	scheme := runtime.NewScheme()
	require.NoError(t, corev1.AddToScheme(scheme))
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string][]byte{"name": []byte("another")}}
	secret.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	var encoded bytes.Buffer
	require.NoError(t, protobuf.NewSerializer(scheme, scheme).Encode(secret, &encoded))
	return encoded.String()
}

func TestIsTracked(t *testing.T) {
	const namespaced = "/apis/extensions.gardener.cloud/v1alpha1/namespaces/n/infrastructures/one"
	tests := map[string]struct {
		target      Target
		method, url string
		want        bool
	}{
		"a read of the cloud":           {Cloud, http.MethodGet, "/v2.0/networks", true},
		"a write to the cloud":          {Cloud, http.MethodPost, "/v2.0/networks", true},
		"a read of the API server":      {KubeAPI, http.MethodGet, namespaced, false},
		"a write to the API server":     {KubeAPI, http.MethodPatch, namespaced + "/status", true},
		"an Event":                      {KubeAPI, http.MethodPost, "/apis/events.k8s.io/v1/namespaces/n/events", false},
		"a repeated Event":              {KubeAPI, http.MethodPatch, "/api/v1/namespaces/n/events/one.17", false},
		"the renewal of a Lease":        {KubeAPI, http.MethodPut, "/apis/coordination.k8s.io/v1/namespaces/n/leases/l", false},
		"an object that is named event": {KubeAPI, http.MethodPatch, "/api/v1/namespaces/n/secrets/event", true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.want, isTracked(test.target, httptest.NewRequest(test.method, test.url, nil)))
		})
	}
}

func TestWithoutProgress(t *testing.T) {
	const order, status = "PATCH /networks/one", "PATCH /networks/one/status"
	tests := map[string]struct{ writes, want []string }{
		"a short reconciliation":                      {[]string{order, status}, []string{order, status}},
		"a short reconciliation with two writes":      {[]string{order, status, status}, []string{order, status, status}},
		"a reconciliation with progress":              {[]string{order, status + " to Processing", status + " to Succeeded"}, []string{order, status}},
		"repeated progress":                           {[]string{order, status + " to Processing", status, status + " to Succeeded"}, []string{order, status}},
		"a failed first write of progress":            {[]string{order, status + " to Processing", status + " to Processing", status + " to Succeeded"}, []string{order, status}},
		"a reconciliation that does not end":          {[]string{order, status + " to Processing", status}, []string{order}},
		"two reconciliations":                         {[]string{status + " to Processing", status + " to Succeeded", status}, []string{status, status}},
		"a short reconciliation that fails":           {[]string{order, status + " to Error"}, []string{order, status + " to Error"}},
		"a long reconciliation that changes a Secret": {[]string{order, status + " to Processing", "PATCH /secrets/one", status + " to Succeeded"}, []string{order, "PATCH /secrets/one", status}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.want, WithoutProgress(test.writes))
		})
	}
}

func TestWritesTo(t *testing.T) {
	calls := []Call{
		{Cloud, http.MethodPost, "/v2.0/networks", 1},
		{KubeAPI, http.MethodPatch, "/networks/one/status", 2},
		{KubeAPI, http.MethodGet, "/networks/one", 1},
	}
	assert.Equal(t, []string{"PATCH /networks/one/status"}, WritesTo(KubeAPI, calls))
	assert.Equal(t, []string{"POST /v2.0/networks"}, WritesTo(Cloud, calls))
}
