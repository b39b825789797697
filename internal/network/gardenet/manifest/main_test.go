package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/trellis-garden/trellis/internal/gardenet/config"
)

// written returns the objects in YAML, by kind and app; those of the whole cluster have no app.
func written(t *testing.T, o options) map[string]string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, write(&out, o))
	documents := map[string]string{}
	for document := range strings.SplitSeq(strings.TrimPrefix(out.String(), "---\n"), "\n---\n") {
		object := &metav1.PartialObjectMetadata{}
		require.NoError(t, yaml.Unmarshal([]byte(document), object))
		documents[object.Kind+"/"+object.Labels["app"]] = document
	}
	return documents
}

func daemonSet(t *testing.T, document string) *appsv1.DaemonSet {
	t.Helper()
	decoded := &appsv1.DaemonSet{}
	require.NoError(t, yaml.UnmarshalStrict([]byte(document), decoded))
	return decoded
}

func TestWrite(t *testing.T) {
	documents := written(t, options{image: "example.org/agent:1", pods: "10.244.0.0/16,fd00:10:244::/56"})
	assert.Len(t, documents, 6, "account, two for its rights, configuration, agents, and the Service for metrics; no autoscaler")
	agent := daemonSet(t, documents["DaemonSet/gardenet-agent"]).Spec.Template.Spec.Containers[0]
	assert.Equal(t, "example.org/agent:1", agent.Image)
	assert.Len(t, agent.Env, 1, "kube-proxy leads to the API server")

	configMap := &corev1.ConfigMap{}
	require.NoError(t, yaml.UnmarshalStrict([]byte(documents["ConfigMap/gardenet-agent"]), configMap))
	decoded, err := config.Decode([]byte(configMap.Data[config.FileName]))
	require.NoError(t, err)
	assert.Len(t, decoded.PodRanges, 2)
	assert.Equal(t, config.RoutesNodes, decoded.Routes)
	assert.Nil(t, decoded.Tunnel)
	assert.NotNil(t, decoded.NetworkPolicy)
	assert.True(t, decoded.ReportsNetwork, "no cloud does")
}

func TestWrite_WithoutKubeProxy(t *testing.T) {
	documents := written(t, options{
		image: "example.org/agent:1", pods: "10.244.0.0/16,fd00:10:244::/56",
		routerImage: "example.org/router:1", services: "10.96.0.0/16,fd00:10:96::/112", apiServer: "example-control-plane:6443",
	})
	router := daemonSet(t, documents["DaemonSet/gardenet-service-router"]).Spec.Template.Spec.Containers[0]
	assert.Equal(t, "example.org/router:1", router.Image)
	assert.Subset(t, router.Args, []string{"--pod-ranges=10.244.0.0/16,fd00:10:244::/56", "--service-ranges=10.96.0.0/16,fd00:10:96::/112"})
	agent := daemonSet(t, documents["DaemonSet/gardenet-agent"]).Spec.Template.Spec.Containers[0]
	assert.Equal(t, "example.org/agent:1", agent.Image)
	for _, container := range []corev1.Container{agent, router} {
		assert.Subset(t, container.Env, []corev1.EnvVar{
			{Name: "KUBERNETES_SERVICE_HOST", Value: "example-control-plane"}, {Name: "KUBERNETES_SERVICE_PORT", Value: "6443"},
		}, container.Name)
	}
}

func TestWrite_InvalidFlags(t *testing.T) {
	for want, o := range map[string]options{
		"-image":                {pods: "10.244.0.0/16"},
		"-pods":                 {image: "agent:1"},
		"there are several":     {image: "agent:1", pods: "10.0.0.0/16,10.1.0.0/16"},
		"-pods: netip.ParsePr":  {image: "agent:1", pods: "10.0.0.0"},
		"-services":             {image: "agent:1", pods: "10.0.0.0/16", routerImage: "router:1", apiServer: "api:6443"},
		"-api-server: address ": {image: "agent:1", pods: "10.0.0.0/16", routerImage: "router:1", services: "10.1.0.0/16", apiServer: "api"},
		"-api-server: strconv":  {image: "agent:1", pods: "10.0.0.0/16", routerImage: "router:1", services: "10.1.0.0/16", apiServer: "api:https"},
	} {
		assert.ErrorContains(t, write(&bytes.Buffer{}, o), want)
	}
}
