package component_test

import (
	"errors"
	"path/filepath"
	"testing"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/controlplane/component"
	"github.com/trellis-garden/trellis/internal/golden"
)

// checkGolden compares objects with a file under testdata.
func checkGolden(t *testing.T, name string, objects []client.Object) {
	t.Helper()
	golden.Check(t, filepath.Join("testdata", name), golden.Manifest(t, objects))
}

// exampleComponent is a component that has everything a component can have.
func exampleComponent() component.Component {
	socket := []component.SharedFolder{{Name: "socket", Path: "/run/example"}}
	return component.Component{
		Name:     "example",
		Selector: map[string]string{"app": "example", "role": "controller"},
		Priority: "gardener-system-300",
		User:     65532,
		Containers: []component.Container{
			{
				Name: "controller", Image: "controller-image", Command: []string{"/bin/controller"},
				Args:        []string{"--cloud-config=/etc/cloud/cloud.conf", "--secure-port=8443"},
				Env:         []corev1.EnvVar{{Name: "SOCKET", Value: "/run/example/example.sock"}},
				Ports:       []corev1.ContainerPort{{Name: "metrics", ContainerPort: 8443, Protocol: corev1.ProtocolTCP}},
				Requests:    corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("20m"), corev1.ResourceMemory: resource.MustParse("50Mi")},
				Files:       []component.Files{{Source: "cloud", Path: "/etc/cloud"}, {Source: "example-server", Path: "/etc/tls"}},
				ShootAccess: "controller",
				Shared:      socket,
			},
			{
				Name: "sidecar", Image: "sidecar-image", Shared: socket, ShootAccess: "sidecar",
				Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("5m"), corev1.ResourceMemory: resource.MustParse("10Mi")},
			},
			{Name: "logger", Image: "logger-image", Shared: socket, ShootAccess: "sidecar"},
		},
		Egress: []component.Destination{component.PublicNetworks, component.PrivateNetworks},
		Metrics: &component.Metrics{
			Port: "metrics", Certificate: "example-server", Keep: []string{"requests_total", "errors_total"},
			Alerts: []component.Alert{
				{
					Name: "ExampleDown", Expression: `absent(up{job="example"} == 1)`, For: "15m", Severity: "critical", Visibility: "all",
					Summary: "The example is down.", Description: "Requests fail.",
				},
				{
					Name: "ExampleErrors", Expression: `errors_total > 3`, Severity: "warning", Visibility: "operator",
					Summary: "The example has errors.", Description: "Some requests fail.",
				},
			},
		},
	}
}

func testValues() component.Values {
	return component.Values{
		Namespace:         "shoot--dev--one",
		GenericKubeconfig: "generic-token-kubeconfig-0a1b2c3d",
		Secrets: map[string]string{
			"cloud": "cloud-1a2b3c4d", "example-server": "example-server-2b3c4d5e", "example-server/ca": "ca-example-bundle-3c4d5e6f",
		},
		Image: func(name string) (string, error) { return "registry.example.org/" + name + ":v1", nil },
	}
}

func TestObjects(t *testing.T) {
	objects, err := component.Objects(exampleComponent(), testValues())
	require.NoError(t, err)
	checkGolden(t, "awake.yaml", objects)

	again, err := component.Objects(exampleComponent(), testValues())
	require.NoError(t, err)
	assert.Equal(t, objects, again)
}

func TestObjects_SeedAccess(t *testing.T) {
	reader := component.Component{
		Name: "reader", Selector: map[string]string{"app": "reader"}, Priority: "gardener-system-300", User: 65532,
		Containers: []component.Container{{
			Name: "reader", Image: "reader-image", Files: []component.Files{{Secret: "cloudprovider", Keys: []string{"token"}, Path: "/etc/identity"}},
		}},
		SeedRules: []rbacv1.PolicyRule{
			{APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: []string{"cloudprovider"}, Verbs: []string{"get"}},
		},
		PodAnnotations: map[string]string{"checksum/credentials": "1a2b3c4d"},
	}
	objects, err := component.Objects(reader, testValues())
	require.NoError(t, err)
	checkGolden(t, "seedaccess.yaml", objects)
}

func TestObjects_Hibernated(t *testing.T) {
	hibernated := testValues()
	hibernated.Hibernated = true
	objects, err := component.Objects(exampleComponent(), hibernated)
	require.NoError(t, err)
	deployment := objects[0].(*appsv1.Deployment)
	assert.Zero(t, *deployment.Spec.Replicas)

	running, err := component.Objects(exampleComponent(), testValues())
	require.NoError(t, err)
	deployment.Spec.Replicas = new(int32(1))
	assert.Equal(t, running, objects, "nothing else is different")
}

func TestObjects_WithoutMetricsAndShootAccess(t *testing.T) {
	plain := exampleComponent()
	plain.Metrics, plain.Egress = nil, nil
	plain.Containers = []component.Container{{Name: "controller", Image: "controller-image"}}
	objects, err := component.Objects(plain, testValues())
	require.NoError(t, err)
	checkGolden(t, "plain.yaml", objects)
	assert.Empty(t, plain.ShootAccesses())
}

func TestObjects_MetricsWithoutTLS(t *testing.T) {
	open := exampleComponent()
	open.Metrics.Certificate, open.Metrics.Alerts = "", nil
	objects, err := component.Objects(open, testValues())
	require.NoError(t, err)
	require.Len(t, objects, 5, "no alerts, no PrometheusRule")
	endpoint := objects[4].(*monitoringv1.ServiceMonitor).Spec.Endpoints[0]
	assert.Nil(t, endpoint.Scheme)
	assert.Nil(t, endpoint.TLSConfig)
	assert.Nil(t, endpoint.Authorization)
}

func TestObjects_Webhooks(t *testing.T) {
	server := exampleComponent()
	server.Webhooks = &component.WebhookServer{Service: "example-webhooks", Port: server.Metrics.Port}
	objects, err := component.Objects(server, testValues())
	require.NoError(t, err)
	without, err := component.Objects(exampleComponent(), testValues())
	require.NoError(t, err)
	require.Equal(t, without, objects[:len(objects)-1])
	checkGolden(t, "webhookservice.yaml", objects[len(objects)-1:])
}

func TestObjects_Errors(t *testing.T) {
	for sentence, test := range map[string]struct {
		spoil     func(*component.Component, *component.Values)
		complaint string
	}{
		"a component without containers": {
			func(c *component.Component, _ *component.Values) { c.Containers = nil }, "it has no containers",
		},
		"a component that runs as root": {
			func(c *component.Component, _ *component.Values) { c.User = 0 }, "it must not run as root",
		},
		"an image that the vector has not": {
			func(_ *component.Component, values *component.Values) {
				values.Image = func(string) (string, error) { return "", errors.New("no such image") }
			}, `looking up the image of container "controller": no such image`,
		},
		"files that the plan has not": {
			func(_ *component.Component, values *component.Values) { delete(values.Secrets, "cloud") }, `mounts "cloud", which the plan has not`,
		},
		"metrics on a port that nobody has": {
			func(c *component.Component, _ *component.Values) { c.Metrics.Port = "metric" }, `no container has the port "metric"`,
		},
		"webhooks on a port that no container has": {
			func(c *component.Component, _ *component.Values) {
				c.Webhooks = &component.WebhookServer{Service: "example-webhooks", Port: "webhook"}
			}, `no container has the port "webhook"`,
		},
		"webhooks on the Service of the metrics": {
			func(c *component.Component, _ *component.Values) {
				c.Webhooks = &component.WebhookServer{Service: "example", Port: c.Metrics.Port}
			}, `the Service "example" is for metrics: webhooks need another one`,
		},
		"metrics whose certificate nobody can verify": {
			func(_ *component.Component, values *component.Values) { delete(values.Secrets, "example-server/ca") }, `no CA bundle of certificate "example-server"`,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			invalid, values := exampleComponent(), testValues()
			test.spoil(&invalid, &values)
			objects, err := component.Objects(invalid, values)
			assert.ErrorContains(t, err, test.complaint)
			assert.ErrorContains(t, err, `component "example": `)
			assert.Nil(t, objects)
		})
	}
}

func TestShootAccessSecret(t *testing.T) {
	checkGolden(t, "shootaccess.yaml", []client.Object{component.ShootAccessSecret("controller", "shoot--dev--one")})
	assert.Equal(t, []string{"controller", "sidecar"}, exampleComponent().ShootAccesses())
}
