package gardenet

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/gardener/gardener/pkg/resourcemanager/controller/garbagecollector/references"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/trellis-garden/trellis/apis/gardenet/v1alpha1"
	"github.com/trellis-garden/trellis/internal/gardenet/config"
)

// documentPrefix and a hash are the name of the ConfigMap with the configuration of agents.
const documentPrefix = "gardenet-config-"

// agentConfig returns the configuration of all agents.
func (s *settings) agentConfig() config.Config {
	masquerade := *s.config.Masquerade.Enabled
	c := config.Config{
		PodRanges:  s.podRanges,
		NodeRanges: s.nodeRanges,
		MTU:        *s.config.MTU,
		Routes:     s.form.Routes,
		Masquerade: config.Masquerade{
			Enabled: masquerade, Except: s.except, DNS: !masquerade && *s.config.SnatToUpstreamDNS.Enabled,
		},
		HostPorts:        *s.config.HostPorts.Enabled,
		Bandwidth:        *s.config.Bandwidth.Enabled,
		ServiceRouting:   s.form.Services != "",
		ReportsNetwork:   s.reportsNetwork(),
		WithdrawsNetwork: s.form.WaitsForRoutes,
	}
	if t := s.form.Tunnel; t != nil {
		c.Tunnel = &config.Tunnel{ID: t.ID, Port: t.Port}
	}
	if policy := s.config.NetworkPolicy; *policy.Enabled {
		c.NetworkPolicy = &config.NetworkPolicy{Recheck: policy.Established == v1alpha1.EstablishedRecheck}
		if denied := s.config.Logging.DeniedPackets; *denied.Enabled {
			c.NetworkPolicy.LogDenied = *denied.PerSecond
		}
	}
	return c
}

// document returns the ConfigMap with the configuration of agents. Its name changes with its content, so that the DaemonSet rolls out each change, and a pod that
// starts again before has what it had. gardener-resource-manager deletes those that no pod refers to any more.
func (s *settings) document() (*corev1.ConfigMap, error) {
	content, err := s.agentConfig().Encode()
	if err != nil {
		return nil, err
	}
	hash := sha256.Sum256([]byte(content))
	const digits = 8
	object := inKubeSystem(documentPrefix+hex.EncodeToString(hash[:])[:digits], agentName)
	object.Labels[references.LabelKeyGarbageCollectable] = references.LabelValueGarbageCollectable
	return &corev1.ConfigMap{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: object, Immutable: new(true),
		Data: map[string]string{config.FileName: content},
	}, nil
}
