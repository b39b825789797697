package admission

import (
	"fmt"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
)

func numbered(name string, number int) string { return fmt.Sprintf("%s-%d", name, number) }

// immutables are all immutable fields of the infrastructure.
func immutables() map[string]updateCase {
	const network = `{networks: {workers: null, id: ` + aUUID + `, subnetId: ` + aUUID + `}}`
	dual := all(dualStack(), infrastructure(`{networks: {ipv6: {subnetPoolID: `+aUUID+`}}}`))
	changed := func(before change, fields, path, remedy string) updateCase {
		return updateCase{before, infrastructure(fields), []expectedCause{{inInfrastructure + path, remedy}}}
	}
	return map[string]updateCase{
		"the floating pool":                   changed(nil, `{floatingPoolName: dmz-7}`, ".floatingPoolName", `set it back to "public"`),
		"a subnet of the floating pool added": changed(nil, `{floatingPoolSubnetName: s}`, ".floatingPoolSubnetName", "remove the field, or create a new shoot"),
		"a subnet of the floating pool":       changed(infrastructure(`{floatingPoolSubnetName: s}`), `{floatingPoolSubnetName: t}`, ".floatingPoolSubnetName", `set it back to "s"`),
		"a router added":                      changed(nil, `{networks: {router: {id: `+aUUID+`}}}`, ".networks.router", "remove the field, or create a new shoot"),
		"a router": changed(infrastructure(`{networks: {router: {id: `+aUUID+`}}}`),
			`{networks: {router: {id: `+anotherUUID+`}}}`, ".networks.router", `set it back to {"id":"`+aUUID),
		"a network removed": changed(infrastructure(`{networks: {id: `+aUUID+`}}`), `{networks: {id: null}}`, ".networks.id", "set it back to"),
		"a given subnet":    changed(infrastructure(network), `{networks: {subnetId: `+anotherUUID+`}}`, ".networks.subnetId", "set it back to"),
		"the range of the nodes": changed(nil,
			`{networks: {workers: 10.250.128.0/17}}`, ".networks.workers", `set it back to "10.250.0.0/17"`),
		"the range in the field's former name": changed(infrastructure(`{networks: {workers: null, worker: 10.250.0.0/17}}`),
			`{networks: {worker: 10.250.128.0/17}}`, ".networks.workers", `set it back to "10.250.0.0/17"`),
		"a subnet pool": changed(infrastructure(`{networks: {workers: null, subnetPool: {id: `+aUUID+`}}}`),
			`{networks: {subnetPool: {id: `+anotherUUID+`}}}`, ".networks.subnetPool", "set it back to"),
		"a security group added": changed(nil, `{networks: {securityGroupId: `+aUUID+`}}`, ".networks.securityGroupId", "remove the field"),
		"the source of IPv6": changed(dual,
			`{networks: {ipv6: {subnetPoolID: `+anotherUUID+`}}}`, ".networks.ipv6", "set it back to"),
		"the zones of network and router": changed(infrastructure(`{networks: {availabilityZoneHints: {network: [nova]}}}`),
			`{networks: {availabilityZoneHints: {network: [vega]}}}`, ".networks.availabilityZoneHints", "set it back to"),
		"the share network off again": changed(infrastructure(`{networks: {shareNetwork: {enabled: true}}}`),
			`{networks: {shareNetwork: {enabled: false}}}`, ".networks.shareNetwork.enabled", "set it back to true"),
		"the share network forgotten": changed(infrastructure(`{networks: {shareNetwork: {enabled: true}}}`),
			`{networks: {shareNetwork: null}}`, ".networks.shareNetwork.enabled", "set it back to true"),
		"the whole configuration": {nil, func(shoot *gardencorev1beta1.Shoot) { shoot.Spec.Provider.InfrastructureConfig = nil }, []expectedCause{{inInfrastructure, "give one"}}},
	}
}

func changeables() map[string]updateCase {
	sharing := infrastructure(`{networks: {shareNetwork: {enabled: true}}}`)
	manila := controlPlane(`{storage: {csiManila: {enabled: true, credentialsRef: {name: manila}}}}`)
	return map[string]updateCase{
		"nothing at all":                    {nil, all(), nil},
		"a share network, later":            {nil, sharing, nil},
		"the field's newer name":            {infrastructure(`{networks: {workers: null, worker: 10.250.0.0/17}}`), infrastructure(`{networks: {worker: null, workers: 10.250.0.0/17}}`), nil},
		"a field that says what is so":      {nil, infrastructure(`{networks: {shareNetwork: {enabled: false}, nodePortSourceRanges: [0.0.0.0/0]}}`), nil},
		"an MTU":                            {nil, infrastructure(`{networks: {mtu: 1400}}`), nil},
		"an MTU that is none":               {nil, infrastructure(`{networks: {mtu: 1}}`), []expectedCause{{inInfrastructure + ".networks.mtu", "choose a number"}}},
		"who may reach node ports":          {nil, infrastructure(`{networks: {nodePortSourceRanges: [10.0.0.0/8]}}`), nil},
		"dual stack, later":                 {nil, all(dualStack(), infrastructure(`{networks: {ipv6: {subnetPoolID: `+aUUID+`}}}`)), nil},
		"dual stack, later, without ranges": {nil, dualStack(), []expectedCause{{inInfrastructure + ".networks.ipv6", "set subnetPoolID"}}},
		"another provider of load balancers that nobody offers": {
			nil, controlPlane(`{loadBalancerProvider: f5}`), []expectedCause{{inControlPlane + ".loadBalancerProvider", "choose one of"}},
		},
		"a field that there is not": {nil, controlPlane(`{x: 1}`), []expectedCause{{inControlPlane, "correct the name"}}},
		"Manila, later":             {all(sharing, refers("manila")), manila, nil},
		"Manila, later, without credentials of its own": {
			sharing, controlPlane(`{storage: {csiManila: {enabled: true}}}`), []expectedCause{{inManila + ".credentialsRef", "give the name of a Secret"}},
		},
		"Manila's credentials taken away": {
			all(sharing, refers("manila"), manila), controlPlane(`{storage: {csiManila: {credentialsRef: null}}}`),
			[]expectedCause{{inManila + ".credentialsRef", "give the name of a Secret"}},
		},
		"what Manila's credentials refer to taken away": {
			all(sharing, refers("manila"), manila), func(shoot *gardencorev1beta1.Shoot) { shoot.Spec.Resources = nil },
			[]expectedCause{{inManila + ".credentialsRef.name", "add it there"}},
		},
	}
}

func poolUpdates() map[string]updateCase {
	twoZones := zones("nova", "vega")
	volume := gardencorev1beta1.DataVolume{Name: "a", VolumeSize: "10Gi"}
	return map[string]updateCase{
		"a zone more":                       {nil, twoZones, nil},
		"a zone less":                       {twoZones, zones("nova"), []expectedCause{{inPool + ".zones", `set it back to ["nova","vega"]`}}},
		"another order of zones":            {twoZones, zones("vega", "nova"), []expectedCause{{inPool + ".zones", "zones can only be added at the end"}}},
		"another pool":                      {nil, secondPool(), nil},
		"another pool with an error":        {nil, secondPool(pool(`{x: 1}`)), []expectedCause{{"spec.provider.workers[1].providerConfig", "correct the name"}}},
		"another pool in front":             {twoZones, inFront(), nil},
		"a pool less":                       {secondPool(), func(shoot *gardencorev1beta1.Shoot) { shoot.Spec.Provider.Workers = shoot.Spec.Provider.Workers[:1] }, nil},
		"a pool that a policy was added to": {nil, pool(`{serverGroup: {policy: soft-anti-affinity}}`), nil},
		"a policy that nobody offers":       {nil, pool(`{serverGroup: {policy: anti-affinity}}`), []expectedCause{{inPoolConfig + ".serverGroup.policy", "choose one of"}}},
		"a volume encrypted later":          {nil, worker(func(worker *gardencorev1beta1.Worker) { worker.Volume.Encrypted = new(true) }), []expectedCause{{inPool + ".volume.encrypted", "choose such a type"}}},
		"a configuration of nodes that are updated in place": {
			inPlace(), pool(`{additionalSecurityGroups: [a]}`), []expectedCause{{inPoolConfig, "or create a new pool"}},
		},
		"data volumes of nodes that are updated in place": {
			inPlace(), dataVolumes(volume), []expectedCause{{inPool + ".dataVolumes", "or create a new pool"}},
		},
		"the same configuration in other words": {
			all(inPlace(), poolRaw(`{"apiVersion":"`+openstackGroup+`","kind":"WorkerConfig","configDrive":true,"additionalSecurityGroups":["a"]}`)),
			poolRaw(`{"additionalSecurityGroups":["a"],"configDrive":true,"kind":"WorkerConfig","apiVersion":"` + openstackGroup + `"}`), nil,
		},
		"more of nodes that are updated in place": {
			inPlace(), worker(func(worker *gardencorev1beta1.Worker) { worker.Maximum = 5 }), nil,
		},
	}
}

// inFront adds a pool before the others: pools are compared by their names.
func inFront() change {
	return func(shoot *gardencorev1beta1.Shoot) {
		shoot.Spec.Provider.Workers = append([]gardencorev1beta1.Worker{newPool("zero")}, shoot.Spec.Provider.Workers...)
	}
}

func networkUpdates() map[string]updateCase {
	ipam := network(`{ipam: {type: calico-ipam}}`)
	back := []expectedCause{{inNetwork + ".ipam.type", "set it to calico-ipam"}}
	return map[string]updateCase{
		"Calico's own addresses, later":      {nil, ipam, nil},
		"back from Calico's own addresses":   {ipam, network(`{ipam: {type: host-local}}`), back},
		"back from what VXLAN brought":       {network(`{overlay: {enabled: true}, vxlan: {enabled: true}}`), network(`{vxlan: {enabled: false}, ipam: {type: host-local}}`), back},
		"an overlay, later":                  {network(`{overlay: {enabled: false}}`), network(`{overlay: {enabled: true}}`), nil},
		"no overlay any more":                {network(`{overlay: {enabled: true}}`), network(`{overlay: {enabled: false}}`), nil},
		"no word about the overlay any more": {network(`{overlay: {enabled: true}}`), network(`{overlay: null}`), nil},
		"no configuration any more":          {network(`{overlay: {enabled: true}}`), networking(func(networking *gardencorev1beta1.Networking) { networking.ProviderConfig = nil }), nil},
		"kube-proxy off":                     {nil, kubeProxy(false), []expectedCause{{"spec.kubernetes.kubeProxy.enabled", "ebpfDataplane.enabled to true"}}},
		"eBPF off where there is nobody else": {
			all(kubeProxy(false), network(`{ebpfDataplane: {enabled: true}}`)), network(`{ebpfDataplane: {enabled: false}}`),
			[]expectedCause{{"spec.kubernetes.kubeProxy.enabled", "ebpfDataplane.enabled to true"}},
		},
		"an MTU in words": {nil, network(`{vethMTU: large}`), []expectedCause{{inNetwork + ".vethMTU", "write a number"}}},
	}
}
