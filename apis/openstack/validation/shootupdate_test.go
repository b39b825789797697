package validation_test

import (
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/apis/openstack/validation"
)

func unchanged(*cluster) {}

// badPool is one that nobody could add any more.
func badPool(c *cluster) { c.pools[1].ServerGroup = &v1alpha1.ServerGroup{Policy: "harmony"} }

func inPlace(c *cluster) {
	c.worker(1).UpdateStrategy = new(gardencorev1beta1.AutoInPlaceUpdate)
}

func TestValidateShoot_ValidUpdate(t *testing.T) {
	broken := func(c *cluster) { c.misspell(infraOf, `"networks":{`, `"networks":{"mtu":"many",`) }
	for sentence, test := range map[string]struct{ before, after func(*cluster) }{
		"no change": {unchanged, unchanged},
		"dual stack for an IPv4 shoot, whose range waits in the configuration already": {
			func(c *cluster) { c.dualStack(); c.Spec.Networking.IPFamilies = nil }, (*cluster).dualStack,
		},
		"dual stack for an IPv4 shoot, all at once":    {unchanged, (*cluster).dualStack},
		"IPv4 alone for a dual-stack shoot":            {(*cluster).dualStack, func(c *cluster) { c.dualStack(); c.Spec.Networking.IPFamilies = nil }},
		"Manila, with credentials":                     {unchanged, func(c *cluster) { c.manila("manila") }},
		"something else, with Manila as it always was": {func(c *cluster) { c.manila("") }, func(c *cluster) { c.manila(""); c.infra.Networks.MTU = new(1400) }},
		"another pool":  {unchanged, func(c *cluster) { c.pool("tpu") }},
		"one pool less": {unchanged, func(c *cluster) { c.remove(0) }},
		"one pool less, before one with an error":     {badPool, func(c *cluster) { badPool(c); c.remove(0) }},
		"another zone at the end":                     {unchanged, func(c *cluster) { c.worker(0).Zones = append(c.worker(0).Zones, "north-3") }},
		"the deprecated name of the range":            {unchanged, func(c *cluster) { c.infra.Networks.Worker, c.infra.Networks.Workers = c.infra.Networks.Workers, "" }},
		"more machines, where a policy is gone":       {badPool, func(c *cluster) { badPool(c); c.worker(1).Maximum = 7 }},
		"the pool, where a floating pool is gone":     {func(c *cluster) { c.infra.FloatingPoolName = "gone" }, func(c *cluster) { c.infra.FloatingPoolName = "gone"; c.pool("tpu") }},
		"the pool, where a provider is gone":          {func(c *cluster) { c.control.LoadBalancerProvider = "gone" }, func(c *cluster) { c.control.LoadBalancerProvider = "gone"; c.pool("tpu") }},
		"the MTU, next to a router by its name":       {func(c *cluster) { named(c) }, func(c *cluster) { named(c); c.infra.Networks.MTU = new(1400) }},
		"what a broken document leaves alone":         {broken, func(c *cluster) { broken(c); c.pool("tpu") }},
		"a broken document, which is mended":          {broken, unchanged},
		"what is next to a field that nobody knows":   {unknownField, func(c *cluster) { unknownField(c); c.infra.Networks.MTU = new(1400) }},
		"a field that nobody knows, which is removed": {unknownField, unchanged},
		"one of two fields that nobody knows, which is removed": {
			func(c *cluster) {
				c.misspell(controlOf, `{`, `{"colour":"red","size":"big",`)
				c.misspell(lastPool, `{`, `{"colour":"red","size":"big",`)
			},
			func(c *cluster) {
				c.misspell(controlOf, `{`, `{"size":"big",`)
				c.misspell(lastPool, `{`, `{"colour":"red",`)
			},
		},
		"the range of all nodes, next to workers outside of it": {
			func(c *cluster) { c.Spec.Networking.Nodes = new("10.99.0.0/16") }, func(c *cluster) { c.Spec.Networking.Nodes = new("10.98.0.0/15") },
		},
		"more, where nobody knows a field and a policy is gone": {
			func(c *cluster) { unknownField(c); badPool(c) }, func(c *cluster) { unknownField(c); badPool(c); c.pools[1].ConfigDrive = new(true) },
		},
		"no configurations, where there were none":      {(*cluster).withoutConfigs, func(c *cluster) { c.withoutConfigs(); c.pool("tpu") }},
		"an unknown field of nodes updated in place":    {func(c *cluster) { inPlace(c); unknownField(c) }, inPlace},
		"machines from here, for one that hosts itself": {func(c *cluster) { c.selfHosted(); c.withoutCredentials(); c.withoutConfigs() }, (*cluster).selfHosted},
		"the provider to one that is offered, without any binding, which is not to be taken for a panic": {
			(*cluster).withoutCredentials, func(c *cluster) { c.withoutCredentials(); c.control.LoadBalancerProvider = "ovn" },
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			before, after := newCluster(), newCluster()
			test.before(before)
			test.after(after)
			require.Empty(t, validation.ValidateShoot(after.write(t), before.write(t), after.in))
			require.Empty(t, validation.ValidateShoot(after.Shoot, before.Shoot, validation.ShootValidationContext{}), "and without a profile")
		})
	}
}

func named(c *cluster) { c.infra.Networks.Router = &v1alpha1.Router{ID: "mine"} }

// unknownField adds to all documents a field that another version may have known.
func unknownField(c *cluster) {
	c.misspell(infraOf, `"networks":{`, `"networks":{"colour":"red",`)
	c.misspell(controlOf, `{`, `{"colour":"red",`)
	c.misspell(lastPool, `{`, `{"colour":"red",`)
}

func TestValidateShoot_InvalidUpdate(t *testing.T) {
	const (
		infra   = "spec.provider.infrastructureConfig"
		control = "spec.provider.controlPlaneConfig"
		workers = "spec.provider.workers"
	)
	for sentence, test := range map[string]struct {
		before, after func(*cluster)
		wantErrors    []expectedError
	}{
		"another range of the nodes": {
			unchanged, func(c *cluster) { c.infra.Networks.Workers = "10.250.32.0/19" },
			[]expectedError{{infra + ".networks.workers", `is immutable: set it back to "10.250.0.0/19", or create a new shoot`}},
		},
		"another floating pool": {
			unchanged, func(c *cluster) { c.infra.FloatingPoolName = "classy" },
			[]expectedError{{infra + ".floatingPoolName", `set it back to "public"`}},
		},
		"another range, next to a field that nobody knows": {
			unknownField, func(c *cluster) { unknownField(c); c.infra.Networks.Workers = "10.250.32.0/19" },
			[]expectedError{{infra + ".networks.workers", `set it back to "10.250.0.0/19"`}},
		},
		"a field that nobody knows": {
			unchanged, unknownField,
			[]expectedError{
				{infra, `unknown field "networks.colour"`},
				{control, `unknown field "colour"`},
				{workers + "[1].providerConfig", `unknown field "colour": correct the name or remove the field`},
			},
		},
		"another field that nobody knows": {
			func(c *cluster) { c.misspell(controlOf, `{`, `{"colour":"red",`) }, func(c *cluster) { c.misspell(controlOf, `{`, `{"size":"big",`) },
			[]expectedError{{control, `unknown field "size"`}},
		},
		"no infrastructureConfig any more": {
			unchanged, func(c *cluster) { drop(c, infraOf) }, []expectedError{{infra, "give one with apiVersion"}},
		},
		"an error instead of another one": {
			named, func(c *cluster) { c.infra.Networks.MTU = new(1); named(c) },
			[]expectedError{{infra + ".networks.mtu", "choose a number of bytes between 1280 and 9216"}},
		},
		"dual stack without a range": {
			unchanged, func(c *cluster) { c.dualStack(); c.infra.Networks.IPv6 = nil },
			[]expectedError{{infra + ".networks.ipv6", "say where the IPv6 ranges of the dual-stack shoot come from"}},
		},
		"no range of dual stack any more": {
			(*cluster).dualStack, unchanged, []expectedError{{infra + ".networks.ipv6", "is immutable: set it back to"}},
		},
		"nodes elsewhere": {
			unchanged, func(c *cluster) { c.Spec.Networking.Nodes = new("10.99.0.0/16") },
			[]expectedError{{infra + ".networks.workers", "must lie within spec.networking.nodes (10.99.0.0/16)"}},
		},
		"Manila without credentials, later": {
			unchanged, func(c *cluster) { c.manila("") },
			[]expectedError{{control + ".storage.csiManila.credentialsRef", "give the name of a Secret"}},
		},
		"Manila whose Secret is not referred to any more": {
			func(c *cluster) { c.manila("manila") }, func(c *cluster) { c.manila("manila"); c.Spec.Resources = nil },
			[]expectedError{{control + ".storage.csiManila.credentialsRef.name", "add it there, or correct the name"}},
		},
		"no share network any more": {
			func(c *cluster) { c.infra.Networks.ShareNetwork = &v1alpha1.ShareNetwork{Enabled: true} }, unchanged,
			[]expectedError{{infra + ".networks.shareNetwork.enabled", "set it back to true"}},
		},
		"a provider that is not offered, without any binding, which is not to be taken for a panic": {
			(*cluster).withoutCredentials, func(c *cluster) { c.withoutCredentials(); c.control.LoadBalancerProvider = "f5" },
			[]expectedError{{control + ".loadBalancerProvider", `choose one of "amphora", "ovn"`}},
		},
		"a class that is not offered, without any binding": {
			func(c *cluster) { c.withoutCredentials(); c.infra.FloatingPoolName = "classy" },
			func(c *cluster) {
				c.withoutCredentials()
				c.infra.FloatingPoolName, c.control.LoadBalancerClasses = "classy", []v1alpha1.LoadBalancerClass{{Name: "mine"}}
			},
			[]expectedError{{control + ".loadBalancerClasses[0]", "take those of one of its classes"}},
		},
		"a class that keeps its error when it changes": {
			func(c *cluster) {
				c.control.LoadBalancerClasses = []v1alpha1.LoadBalancerClass{{Name: "a", SubnetID: new("mine")}}
			},
			func(c *cluster) {
				c.control.LoadBalancerClasses = []v1alpha1.LoadBalancerClass{{Name: "b", SubnetID: new("mine")}}
			},
			[]expectedError{{control + ".loadBalancerClasses[0].subnetID", "not its name: a UUID"}},
		},
		"another order of zones": {
			unchanged, func(c *cluster) { c.worker(1).Zones = []string{"north-2", "north-1"} },
			[]expectedError{{workers + "[1].zones", `zones can only be added at the end: set it back to ["north-1","north-2"], or create a new pool`}},
		},
		"fewer zones of a pool that moved up": {
			unchanged, func(c *cluster) { c.remove(0); c.worker(0).Zones = []string{"north-1"} },
			[]expectedError{{workers + "[0].zones", "zones can only be added at the end"}},
		},
		"another policy that is not offered": {
			badPool, func(c *cluster) { c.pools[1].ServerGroup = &v1alpha1.ServerGroup{Policy: "peace"} },
			[]expectedError{{workers + "[1].providerConfig.serverGroup.policy", `choose one of "affinity", "soft-anti-affinity"`}},
		},
		"a new pool with an error that another one has already": {
			badPool, func(c *cluster) {
				badPool(c)
				c.pool("tpu")
				c.pools[2].ServerGroup = &v1alpha1.ServerGroup{Policy: "harmony"}
			},
			[]expectedError{{workers + "[2].providerConfig.serverGroup.policy", "choose one of"}},
		},
		"another configuration of nodes that are updated in place": {
			inPlace, func(c *cluster) { inPlace(c); c.pools[1].ConfigDrive = new(true) },
			[]expectedError{{workers + "[1].providerConfig", "set it back to what it was, or create a new pool"}},
		},
		"machines from here without a configuration, for one that hosts itself": {
			func(c *cluster) { c.selfHosted(); c.withoutCredentials(); c.withoutConfigs() },
			func(c *cluster) { c.selfHosted(); c.withoutConfigs() },
			[]expectedError{{infra, "give one with apiVersion"}, {control, "give one with apiVersion"}},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			before, after := newCluster(), newCluster()
			test.before(before)
			test.after(after)
			requireFieldErrors(t, validation.ValidateShoot(after.write(t), before.write(t), after.in), test.wantErrors...)
		})
	}
}

func TestShootNeedsValidation(t *testing.T) {
	for sentence, test := range map[string]struct {
		change func(*cluster)
		needed bool
	}{
		"no change":          {unchanged, false},
		"an annotation":      {func(c *cluster) { c.Annotations = map[string]string{"gardener.cloud/operation": "reconcile"} }, false},
		"its state":          {func(c *cluster) { c.Status.TechnicalID = "shoot--a--b" }, false},
		"its Kubernetes":     {func(c *cluster) { c.Spec.Kubernetes.Version = "1.36.3" }, false},
		"its seed":           {func(c *cluster) { c.Spec.SeedName = new("seed") }, false},
		"the size of a pool": {func(c *cluster) { c.worker(0).Maximum = 9 }, false},
		"its network plugin": {func(c *cluster) { c.Spec.Networking.Type = new("calico") }, false},
		"its credentials":    {func(c *cluster) { c.Spec.CredentialsBindingName = new("other") }, false},
		"the shape of a document": {func(c *cluster) {
			c.misspell(infraOf, `"floatingPoolName":"public",`, ``)
			c.misspell(infraOf, `"networks":{`, ` "floatingPoolName": "public", "networks":{`)
		}, false},
		"the old field for the same CloudProfile": {func(c *cluster) {
			c.Spec.CloudProfile = nil
			c.Spec.CloudProfileName = new("openstack")
		}, false},

		"another CloudProfile":      {func(c *cluster) { c.Spec.CloudProfile.Kind = "NamespacedCloudProfile" }, true},
		"the infrastructure":        {func(c *cluster) { c.infra.Networks.MTU = new(1400) }, true},
		"the control plane":         {func(c *cluster) { c.control.LoadBalancerProvider = "ovn" }, true},
		"a pool":                    {func(c *cluster) { c.pools[0].ConfigDrive = new(true) }, true},
		"a number beyond a float":   {func(c *cluster) { c.infra.Networks.MTU = new(1<<53 + 1) }, true},
		"a label of a pool":         {func(c *cluster) { c.worker(0).Labels["a"] = "b" }, true},
		"the volume of a pool":      {func(c *cluster) { c.worker(0).Volume.VolumeSize = "60Gi" }, true},
		"the image of a pool":       {func(c *cluster) { c.worker(0).Machine.Image = &gardencorev1beta1.ShootMachineImage{Name: "linux"} }, true},
		"the machines of a pool":    {func(c *cluster) { c.worker(0).Machine.Type = "huge" }, true},
		"the name of a pool":        {func(c *cluster) { c.worker(0).Name = "b" }, true},
		"families":                  {func(c *cluster) { c.Spec.Networking.IPFamilies = []gardencorev1beta1.IPFamily{"IPv4"} }, true},
		"the range of nodes":        {func(c *cluster) { c.Spec.Networking.Nodes = nil }, true},
		"networking, which is gone": {func(c *cluster) { c.Spec.Networking = nil }, true},
		"what it refers to":         {func(c *cluster) { c.manila("manila"); c.control.Storage = nil; c.infra.Networks.ShareNetwork = nil }, true},
		"its region":                {func(c *cluster) { c.Spec.Region = "asia" }, true},
	} {
		t.Run(sentence, func(t *testing.T) {
			before, after := newCluster(), newCluster()
			test.change(after)
			if mtu := after.infra.Networks.MTU; mtu != nil {
				before.infra.Networks.MTU = new(*mtu - 1)
			}
			require.Equal(t, test.needed, validation.ShootNeedsValidation(after.write(t), before.write(t)))
			require.True(t, validation.ShootNeedsValidation(after.Shoot, nil), "a new shoot is always validated")
			if !test.needed {
				require.Empty(t, validation.ValidateShoot(after.Shoot, before.Shoot, after.in))
			}
		})
	}
	workerless := newCluster()
	workerless.Spec.Provider.Workers = nil
	require.False(t, validation.ShootNeedsValidation(workerless.Shoot, nil), "one without workers never")
}
