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

func TestWrite(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, write(&out, "example.org/agent:1", "10.244.0.0/16,fd00:10:244::/56"))
	documents := map[string][]byte{}
	for document := range strings.SplitSeq(strings.TrimPrefix(out.String(), "---\n"), "\n---\n") {
		object := &metav1.PartialObjectMetadata{}
		require.NoError(t, yaml.Unmarshal([]byte(document), object))
		documents[object.Kind] = []byte(document)
	}
	assert.Len(t, documents, 6, "account, two for its rights, configuration, agents, and the Service for metrics; no autoscaler")

	daemonSet := &appsv1.DaemonSet{}
	require.NoError(t, yaml.UnmarshalStrict(documents["DaemonSet"], daemonSet))
	assert.Equal(t, "example.org/agent:1", daemonSet.Spec.Template.Spec.Containers[0].Image)

	configMap := &corev1.ConfigMap{}
	require.NoError(t, yaml.UnmarshalStrict(documents["ConfigMap"], configMap))
	decoded, err := config.Decode([]byte(configMap.Data[config.FileName]))
	require.NoError(t, err)
	assert.Len(t, decoded.PodRanges, 2)
	assert.Equal(t, config.RoutesNodes, decoded.Routes)
	assert.Nil(t, decoded.Tunnel)
	assert.NotNil(t, decoded.NetworkPolicy)
	assert.True(t, decoded.ReportsNetwork, "no cloud does")
}

func TestWrite_InvalidFlags(t *testing.T) {
	for want, arguments := range map[string][2]string{
		"-image":               {"", "10.244.0.0/16"},
		"-pods":                {"agent:1", ""},
		"there are several":    {"agent:1", "10.0.0.0/16,10.1.0.0/16"},
		"-pods: netip.ParsePr": {"agent:1", "10.0.0.0"},
	} {
		assert.ErrorContains(t, write(&bytes.Buffer{}, arguments[0], arguments[1]), want)
	}
}
