package kindcluster

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"
)

const (
	auditFolder = "audit"
	auditRules  = "policy.yaml"
	auditLog    = "audit.log"

	// nodeAudit is the path of the folder in a node, and in the API server's pod.
	nodeAudit = "/etc/kubernetes/audit"
	// issuer is kubeadm's issuer of ServiceAccounts' tokens.
	issuer = "https://kubernetes.default.svc.cluster.local"
)

// auditPolicy records the writes of pods, with bodies, and their reads, without. Requests of the cluster's own components are left out; of
// Leases, which are renewed regularly, only the user is kept.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- level: None
  userGroups: ["system:serviceaccounts:kube-system"]
- level: Metadata
  userGroups: ["system:serviceaccounts"]
  resources: [{group: coordination.k8s.io, resources: [leases]}]
- level: Request
  userGroups: ["system:serviceaccounts"]
  verbs: [create, update, patch, delete, deletecollection]
- level: Metadata
  userGroups: ["system:serviceaccounts"]
- level: None
`

// AuditLog is the path of the API server's audit log, one JSON object (audit.k8s.io/v1 Event) per line: all requests of pods outside
// kube-system, with the bodies of writes. The API server writes a line right after its response; watches are written when they end.
func (c *Cluster) AuditLog() string { return filepath.Join(c.dir, auditFolder, auditLog) }

// prepareAudit creates the log, so that this user owns it and not the node's root, who writes it.
func (c *Cluster) prepareAudit() error {
	if err := os.MkdirAll(filepath.Join(c.dir, auditFolder), 0o755); err != nil {
		return err
	}
	for name, content := range map[string]string{auditRules: auditPolicy, auditLog: ""} {
		if err := os.WriteFile(filepath.Join(c.dir, auditFolder, name), []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// hostsFolder is where the container runtime in a node looks for what it has to know of a registry, in a folder of its address. It is read for each pull.
const hostsFolder = "/etc/containerd/certs.d"

// configuration is that of a cluster with the folder dir. If root lacks rights, the container runtime in the nodes must not change the
// OOM score of processes. The version of the runtime's configuration is that of the node image, so each patch is there for both.
func configuration(options Options, dir string, rootHasAllRights bool) *v1alpha4.Cluster {
	nodes := []v1alpha4.Node{{
		Role:        v1alpha4.ControlPlaneRole,
		ExtraMounts: []v1alpha4.Mount{{HostPath: filepath.Join(dir, auditFolder), ContainerPath: nodeAudit}},
	}}
	for range options.Nodes - 1 {
		nodes = append(nodes, v1alpha4.Node{Role: v1alpha4.WorkerRole})
	}
	config := &v1alpha4.Cluster{
		Nodes:                nodes,
		Networking:           networking(options),
		KubeadmConfigPatches: []string{clusterPatch(), kubeletPatch},
	}
	config.ContainerdConfigPatches = []string{
		"version = 2\n[plugins.\"io.containerd.grpc.v1.cri\".registry]\nconfig_path = \"" + hostsFolder + "\"\n",
		"version = 3\n[plugins.\"io.containerd.cri.v1.images\".registry]\nconfig_path = \"" + hostsFolder + "\"\n",
	}
	if !rootHasAllRights {
		config.ContainerdConfigPatches = append(config.ContainerdConfigPatches,
			"version = 2\n[plugins.\"io.containerd.grpc.v1.cri\"]\nrestrict_oom_score_adj = true\n",
			"version = 3\n[plugins.\"io.containerd.cri.v1.runtime\"]\nrestrict_oom_score_adj = true\n",
		)
	}
	return config
}

func networking(options Options) v1alpha4.Networking {
	pods, services := Ranges(options.IPFamily)
	return v1alpha4.Networking{
		IPFamily: options.IPFamily, PodSubnet: pods, ServiceSubnet: services, KubeProxyMode: options.KubeProxy, DisableDefaultCNI: options.Network != nil,
	}
}

// Ranges returns the ranges of pods and Services in clusters of a family, those of two families with a comma between them.
func Ranges(family v1alpha4.ClusterIPFamily) (pods, services string) {
	const (
		pods4, services4 = "10.244.0.0/16", "10.96.0.0/16"
		pods6, services6 = "fd00:10:244::/56", "fd00:10:96::/112"
	)
	switch family {
	case v1alpha4.IPv6Family:
		return pods6, services6
	case v1alpha4.DualStackFamily:
		return pods4 + "," + pods6, services4 + "," + services6
	default:
		return pods4, services4
	}
}

// APIServer is the host and port at which nodes of a cluster reach its API server, without Services.
func APIServer(name string) string { return name + "-control-plane:6443" }

// kubeletPatch permits cgroups of version 1, with which a kubelet otherwise refuses to start.
const kubeletPatch = `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
failCgroupV1: false
`

// clusterPatch enables the audit log, accepts tokens for Gardener's audience, removes the client-side rate limits of the cluster's controllers,
// and disables etcd's fsync: the cluster need not survive a power failure.
func clusterPatch() string {
	return `apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
apiServer:
  extraVolumes:
  - {name: audit, hostPath: ` + nodeAudit + `, mountPath: ` + nodeAudit + `, pathType: Directory}
  extraArgs:
  - {name: audit-policy-file, value: ` + nodeAudit + "/" + auditRules + `}
  - {name: audit-log-path, value: ` + nodeAudit + "/" + auditLog + `}
  - {name: audit-log-maxsize, value: "2000"} # MB: one file, whatever happens
  - {name: api-audiences, value: "` + issuer + ",kubernetes," + v1beta1constants.GardenerAudience + `"}
  - {name: profiling, value: "false"}
controllerManager:
  extraArgs:
  - {name: kube-api-qps, value: "200"}
  - {name: kube-api-burst, value: "400"}
scheduler:
  extraArgs:
  - {name: kube-api-qps, value: "200"}
  - {name: kube-api-burst, value: "400"}
etcd:
  local:
    extraArgs:
    - {name: unsafe-no-fsync, value: "true"}
`
}

// RootHasAllRights reports whether root on this machine has CAP_SYS_RESOURCE, which is the one that is most often missing. Without it the OOM
// score of a process cannot be lowered, and Docker, which gives all capabilities to the nodes' containers, can only start them with a runtime
// that leaves it out.
func RootHasAllRights() bool {
	status, err := os.ReadFile("/proc/self/status")
	return err != nil || hasResourceCapability(string(status))
}

// hasResourceCapability reads the bounding set of a process from its status, proc_pid_status(5).
func hasResourceCapability(status string) bool {
	const number = 24 // capability.h
	for line := range strings.Lines(status) {
		key, value, _ := strings.Cut(line, ":")
		if key != "CapBnd" {
			continue
		}
		mask, err := strconv.ParseUint(strings.TrimSpace(value), 16, 64)
		return err != nil || mask>>number&1 == 1
	}
	return true
}

func (o Options) validate() error {
	switch {
	case o.Name == "" || o.Image == "" || o.Dir == "":
		return fmt.Errorf("a cluster takes a name, an image and a folder, not %q, %q and %q", o.Name, o.Image, o.Dir)
	case o.KubeProxy == WithoutKubeProxy && o.Network == nil:
		return errors.New("a cluster without kube-proxy needs a network that routes Services")
	case o.Nodes < 0:
		return fmt.Errorf("a cluster of %d nodes cannot be made", o.Nodes)
	}
	return nil
}
