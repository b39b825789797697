package policy

import (
	corev1 "k8s.io/api/core/v1"
)

func upstreamCases() map[string]upstreamCase {
	const (
		denyIngress = "x: podSelector: {}, policyTypes: [Ingress]"
		denyEgress  = "x: podSelector: {}, policyTypes: [Egress]"
		denyAll     = "x: podSelector: {}, policyTypes: [Ingress, Egress]"
	)
	return map[string]upstreamCase{
		"should support a 'default-deny-ingress' policy": once("x/a x/b y/a y/b", []string{denyIngress}, tcp(80, "deny * x/*")),
		"should support a 'default-deny-all' policy":     once("x/a x/b y/a", []string{denyAll}, tcp(80, "deny * x/*", "deny x/* *")),
		"should enforce policy to allow traffic from pods within server namespace based on PodSelector": once("x/a x/b x/c y/a", []string{
			"x: podSelector: {matchLabels: {pod: a}}, policyTypes: [Ingress], ingress: [{from: [{podSelector: {matchLabels: {pod: b}}}]}]",
		}, tcp(80, "deny * x/a", "allow x/b x/a")),
		"should enforce policy to allow ingress traffic for a target": once("x/a x/b y/a", []string{
			denyIngress,
			"x: podSelector: {matchLabels: {pod: a}}, policyTypes: [Ingress], ingress: [{from: [{podSelector: {}, namespaceSelector: {}}]}]",
		}, tcp(80, "deny * x/b")),
		"should enforce policy to allow ingress traffic from pods in all namespaces": once("x/a x/b y/a z/a", []string{
			"x: podSelector: {matchLabels: {pod: a}}, policyTypes: [Ingress], ingress: [{from: [{namespaceSelector: {matchLabels: {}}}]}]",
		}, tcp(80)),
		"should enforce policy to allow traffic only from a different namespace, based on NamespaceSelector": once("x/a x/b y/a z/a", []string{
			"x: podSelector: {matchLabels: {pod: a}}, policyTypes: [Ingress], ingress: [{from: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: 'y'}}}]}]",
		}, tcp(80, "deny x/* x/a", "deny z/* x/a")),
		"should enforce policy based on PodSelector with MatchExpressions": once("x/a x/b y/a", []string{
			"x: podSelector: {matchLabels: {pod: a}}, policyTypes: [Ingress], ingress: [{from: [{podSelector: {matchExpressions: [{key: pod, operator: In, values: [b]}]}}]}]",
		}, tcp(80, "deny * x/a", "allow x/b x/a")),
		"should enforce policy based on NamespaceSelector with MatchExpressions": once("x/a x/b y/a z/a", []string{
			"x: podSelector: {matchLabels: {pod: a}}, policyTypes: [Ingress], ingress: [{from: [{namespaceSelector: " +
				"{matchExpressions: [{key: kubernetes.io/metadata.name, operator: In, values: ['y']}]}}]}]",
		}, tcp(80, "deny x/* x/a", "deny z/* x/a")),
		"should enforce policy based on PodSelector or NamespaceSelector": once("x/a x/b x/c y/a", []string{
			"x: podSelector: {matchLabels: {pod: a}}, policyTypes: [Ingress], ingress: [{from: [{namespaceSelector: " +
				"{matchExpressions: [{key: kubernetes.io/metadata.name, operator: NotIn, values: [x]}]}}, {podSelector: {matchLabels: {pod: b}}}]}]",
		}, tcp(80, "deny x/a x/a", "deny x/c x/a")), //nolint:dupword // from a pod to itself
		"should enforce policy based on PodSelector and NamespaceSelector": once("x/a x/b y/a y/b z/b", []string{
			"x: podSelector: {matchLabels: {pod: a}}, policyTypes: [Ingress], ingress: [{from: [{namespaceSelector: " +
				"{matchExpressions: [{key: kubernetes.io/metadata.name, operator: NotIn, values: [x]}]}, podSelector: {matchLabels: {pod: b}}}]}]",
		}, tcp(80, "deny * x/a", "allow y/b x/a", "allow z/b x/a")),
		"should enforce policy based on Multiple PodSelectors and NamespaceSelectors": once("x/a x/b y/a y/b y/c", []string{
			"x: podSelector: {matchLabels: {pod: a}}, policyTypes: [Ingress], ingress: [{from: [{namespaceSelector: " +
				"{matchExpressions: [{key: kubernetes.io/metadata.name, operator: NotIn, values: [x]}]}, podSelector: " +
				"{matchExpressions: [{key: pod, operator: In, values: [b, c]}]}}]}]",
		}, tcp(80, "deny x/* x/a", "deny y/a x/a")),
		"should enforce policy based on any PodSelectors": once("x/a x/b x/c", []string{
			"x: podSelector: {matchLabels: {pod: a}}, policyTypes: [Ingress], " +
				"ingress: [{from: [{podSelector: {matchLabels: {pod: b}}}, {podSelector: {matchLabels: {pod: c}}}]}]",
		}, tcp(80, "deny * x/a", "allow x/b x/a", "allow x/c x/a")),
		"should enforce policy to allow traffic only from a pod in a different namespace based on PodSelector and NamespaceSelector": once(
			"x/a x/b y/a y/b z/a", []string{
				"x: podSelector: {matchLabels: {pod: a}}, policyTypes: [Ingress], " +
					"ingress: [{from: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: 'y'}}, podSelector: {matchLabels: {pod: a}}}]}]",
			}, tcp(80, "deny * x/a", "allow y/a x/a")),
		"should support allow-all policy": once("x/a x/b y/a", []string{"x: podSelector: {matchLabels: {}}, policyTypes: [Ingress], ingress: [{}]"}, tcp(80), tcp(81)),
		"should enforce updated policy": {"x/a y/a", []upstreamStep{
			{policies: []string{"x: podSelector: {matchLabels: {}}, policyTypes: [Ingress], ingress: [{}]"}, probes: []upstreamProbe{tcp(81)}},
			{policies: []string{"x: podSelector: {matchLabels: {}}, policyTypes: [Ingress], ingress: []"}, probes: []upstreamProbe{tcp(81, "deny * x/*")}},
		}},
		"should allow ingress access from updated namespace": updated("x/a y/a", "y", map[string]string{"ns2": "updated"},
			"x: podSelector: {matchLabels: {pod: a}}, policyTypes: [Ingress], ingress: [{from: [{namespaceSelector: {matchLabels: {ns2: updated}}}]}]",
			[]string{"deny * x/a"}, []string{"deny * x/a", "allow y/* *"}),
		"should allow ingress access from updated pod": updated("x/a x/b", "x/b", map[string]string{"pod2": "updated"},
			"x: podSelector: {matchLabels: {pod: a}}, policyTypes: [Ingress], ingress: [{from: [{podSelector: {matchLabels: {pod: b, pod2: updated}}}]}]",
			[]string{"deny * x/a"}, []string{"deny * x/a", "allow x/b x/a"}),
		"should deny ingress access to updated pod": updated("x/a y/a", "x/a", map[string]string{"target": "isolated"},
			"x: podSelector: {matchLabels: {target: isolated}}, policyTypes: [Ingress]", nil, []string{"deny * x/a"}),
		"should deny ingress from pods on other namespaces": once("x/a x/b y/a z/a", []string{
			"x: podSelector: {}, policyTypes: [Ingress], ingress: [{from: [{podSelector: {matchLabels: {}}}]}]",
		}, tcp(80, "deny y/* x/*", "deny z/* x/*")),
		"should deny egress from pods based on PodSelector": once("x/a x/b y/a", []string{"x: podSelector: {matchLabels: {pod: a}}, policyTypes: [Egress]"}, tcp(80, "deny x/a *")),
		"should deny egress from all pods in a namespace":   once("x/a x/b y/a", []string{denyEgress}, tcp(80, "deny x/* *")),
		"should support denying of egress traffic on the client side (even if the server explicitly allows this traffic)": once("x/a y/a y/b", []string{
			"x: podSelector: {matchLabels: {pod: a}}, policyTypes: [Egress], " +
				"egress: [{to: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: 'y'}}, podSelector: {matchLabels: {pod: a}}}]}]",
			"y: podSelector: {matchLabels: {pod: a}}, policyTypes: [Ingress], " +
				"ingress: [{from: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: x}}, podSelector: {matchLabels: {pod: a}}}]}]",
			"y: podSelector: {matchLabels: {pod: b}}, policyTypes: [Ingress], " +
				"ingress: [{from: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: x}}, podSelector: {matchLabels: {pod: a}}}]}]",
		}, tcp(80, "deny x/a *", "deny * y/a", "allow x/a y/a", "deny * y/b")),
		"should enforce egress policy allowing traffic to a server in a different namespace based on PodSelector and NamespaceSelector": once("x/a y/a y/b", []string{
			"x: podSelector: {matchLabels: {pod: a}}, policyTypes: [Egress], " +
				"egress: [{to: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: 'y'}}, podSelector: {matchLabels: {pod: a}}}]}]",
		}, tcp(80, "deny x/a *", "allow x/a y/a")),
		"should stop enforcing policies after they are deleted": {"x/a y/a", []upstreamStep{
			{policies: []string{denyAll}, probes: []upstreamProbe{tcp(80, "deny x/* *", "deny * x/*")}}, {probes: []upstreamProbe{tcp(80)}},
		}},
		"should allow egress access to server in CIDR block": once("x/a y/a y/b", []string{
			"x: podSelector: {matchLabels: {pod: a}}, policyTypes: [Egress], egress: [{to: [{ipBlock: {cidr: 4(y/b)/32}}, {ipBlock: {cidr: '6(y/b)/128'}}]}]",
		}, tcp(80, "deny x/a *", "allow x/a y/b")),
		"should enforce except clause while egress access to server in CIDR block": once("x/a x/b x/c", []string{
			"x: podSelector: {matchLabels: {pod: a}}, policyTypes: [Egress], egress: [{to: [" +
				"{ipBlock: {cidr: 0.0.0.0/4, except: [4(x/b)/32]}}, {ipBlock: {cidr: 'f000::/4', except: ['6(x/b)/128']}}]}]",
		}, tcp(80, "deny x/a x/b")),
		// The second policy of this case has the name of the first, and replaces it.
		"should ensure an IP overlapping both IPBlock.CIDR and IPBlock.Except is allowed": {"x/a x/b x/c", []upstreamStep{
			{policies: []string{
				"x: podSelector: {matchLabels: {pod: a}}, policyTypes: [Egress], egress: [{to: [" +
					"{ipBlock: {cidr: 0.0.0.0/4, except: [4(x/b)/32]}}, {ipBlock: {cidr: 'f000::/4', except: ['6(x/b)/128']}}]}]",
			}, probes: []upstreamProbe{tcp(80, "deny x/a x/b")}},
			{policies: []string{
				"x: podSelector: {matchLabels: {pod: a}}, policyTypes: [Egress], egress: [{to: [{ipBlock: {cidr: 4(x/b)/32}}, {ipBlock: {cidr: '6(x/b)/128'}}]}]",
			}, probes: []upstreamProbe{tcp(80, "deny x/a *", "allow x/a x/b")}},
		}},
		"should enforce policies to check ingress and egress policies can be controlled independently based on PodSelector": {"x/a x/b y/a", []upstreamStep{
			{policies: []string{"x: podSelector: {matchLabels: {pod: a}}, policyTypes: [Egress], egress: [{}]"}, probes: []upstreamProbe{tcp(80)}},
			{policies: []string{
				"x: podSelector: {matchLabels: {pod: a}}, policyTypes: [Egress], egress: [{}]", "x: podSelector: {matchLabels: {pod: a}}, policyTypes: [Ingress]",
			}, probes: []upstreamProbe{tcp(80, "deny * x/a")}},
		}},
		"should enforce policy to allow traffic based on NamespaceSelector with MatchLabels using default ns label": once("x/a x/b y/a z/a", []string{
			"x: podSelector: {matchLabels: {pod: a}}, policyTypes: [Ingress], ingress: [{from: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: 'y'}}}]}]",
		}, tcp(80, "deny x/* x/a", "deny z/* x/a")),
		"should enforce policy based on NamespaceSelector with MatchExpressions using default ns label": once("x/a x/b y/a z/a", []string{
			"x: podSelector: {matchLabels: {pod: a}}, policyTypes: [Egress], egress: [{to: [{namespaceSelector: " +
				"{matchExpressions: [{key: kubernetes.io/metadata.name, operator: NotIn, values: ['y']}]}}]}]",
		}, tcp(80, "deny x/a y/*")),
	}
}

// updated is a case in which a namespace or pod gets labels.
func updated(pods, object string, labels map[string]string, policy string, before, after []string) upstreamCase {
	return upstreamCase{pods, []upstreamStep{
		{policies: []string{policy}, probes: []upstreamProbe{tcp(80, before...)}},
		{policies: []string{policy}, labels: map[string]map[string]string{object: labels}, probes: []upstreamProbe{tcp(80, after...)}},
	}}
}

func upstreamCasesOfPorts() map[string]upstreamCase {
	const (
		port81 = "x: podSelector: {matchLabels: {pod: a}}, policyTypes: [Ingress], " +
			"ingress: [{from: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: 'y'}}}], ports: [{port: 81, protocol: TCP}]}]"
		port80 = "x: podSelector: {matchLabels: {pod: a}}, policyTypes: [Ingress], " +
			"ingress: [{from: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: 'y'}}}], ports: [{port: 80, protocol: TCP}]}]"
	)
	fromY := []string{"deny x/* x/a", "deny z/* x/a"}
	return map[string]upstreamCase{
		"should enforce policy based on Ports": once("x/a x/b y/a y/b z/a", []string{port81}, tcp(81, fromY...)),
		"should enforce multiple, stacked policies with overlapping podSelectors": {"x/a x/b y/a y/b z/a", []upstreamStep{
			{policies: []string{port81}, probes: []upstreamProbe{tcp(81, fromY...), tcp(80, "deny * x/a")}},
			{policies: []string{port81, port80}, probes: []upstreamProbe{tcp(80, fromY...)}},
		}},
		"should allow ingress access on one named port": once("x/a x/b y/a", []string{
			"x: podSelector: {matchLabels: {}}, policyTypes: [Ingress], ingress: [{ports: [{port: serve-81-tcp}]}]",
		}, tcp(81), tcp(80, "deny * x/*")),
		"should allow ingress access from namespace on one named port": once("x/a x/b y/a z/a", []string{
			"x: podSelector: {matchLabels: {pod: a}}, policyTypes: [Ingress], " +
				"ingress: [{from: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: 'y'}}}], ports: [{port: serve-80-tcp, protocol: TCP}]}]",
		}, tcp(80, fromY...), tcp(81, "deny * x/a")),
		"should allow egress access on one named port": once("x/a y/a", []string{
			"x: podSelector: {matchLabels: {}}, policyTypes: [Egress], egress: [{ports: [{port: serve-80-tcp}]}]",
		}, tcp(80), tcp(81, "deny x/* *")),
		"should work with Ingress, Egress specified together": once("x/a x/b x/c y/a", []string{
			"x: podSelector: {matchLabels: {pod: a}}, policyTypes: [Egress, Ingress], ingress: [{from: [{podSelector: {matchLabels: {pod: b}}}]}], egress: [{ports: [{port: 80}]}]",
		}, tcp(80, "deny * x/a", "allow x/b x/a"), tcp(81, "deny * x/a", "deny x/a *", "allow x/b x/a")),
		"should enforce multiple ingress policies with ingress allow-all policy taking precedence": {"x/a y/a", []upstreamStep{
			{policies: []string{"x: podSelector: {matchLabels: {}}, policyTypes: [Ingress], ingress: [{ports: [{port: 80}]}]"}, probes: []upstreamProbe{tcp(81, "deny * x/*")}},
			{policies: []string{
				"x: podSelector: {matchLabels: {}}, policyTypes: [Ingress], ingress: [{ports: [{port: 80}]}]",
				"x: podSelector: {matchLabels: {}}, policyTypes: [Ingress], ingress: [{}]",
			}, probes: []upstreamProbe{tcp(81)}},
		}},
		"should enforce multiple egress policies with egress allow-all policy taking precedence": {"x/a y/a", []upstreamStep{
			{policies: []string{"x: podSelector: {matchLabels: {}}, policyTypes: [Egress], egress: [{ports: [{port: 80}]}]"}, probes: []upstreamProbe{tcp(81, "deny x/* *")}},
			{policies: []string{
				"x: podSelector: {matchLabels: {}}, policyTypes: [Egress], egress: [{ports: [{port: 80}]}]",
				"x: podSelector: {matchLabels: {}}, policyTypes: [Egress], egress: [{}]",
			}, probes: []upstreamProbe{tcp(81)}},
		}},
	}
}

func upstreamCasesOfProtocols() map[string]upstreamCase {
	const denyIngress = "x: podSelector: {}, policyTypes: [Ingress]"
	cases := map[string]upstreamCase{
		"should enforce ingress policy allowing any port traffic to a server on a specific protocol": once("x/a y/a", []string{
			"x: podSelector: {matchLabels: {pod: a}}, policyTypes: [Ingress], ingress: [{ports: [{protocol: TCP}]}]",
		}, tcp(80), upstreamProbe{corev1.ProtocolUDP, 80, []string{"deny * x/a"}}),
		"should not mistakenly treat 'protocol: SCTP' as 'protocol: TCP', even if the plugin doesn't support SCTP": once("x/a y/a", []string{
			denyIngress, "x: podSelector: {matchLabels: {pod: a}}, policyTypes: [Ingress], ingress: [{ports: [{port: 81, protocol: SCTP}]}]",
		}, tcp(81, "deny * x/*")),
		"should properly isolate pods that are selected by a policy allowing SCTP, even if the plugin doesn't support SCTP": once("x/a y/a", []string{
			"x: podSelector: {matchLabels: {pod: a}}, policyTypes: [Ingress], ingress: [{ports: [{port: 80, protocol: SCTP}]}]",
		}, tcp(81, "deny * x/a")),
		"should not allow access by TCP when a policy specifies only UDP": once("x/a y/a", []string{
			"x: podSelector: {matchLabels: {pod: a}}, policyTypes: [Ingress], ingress: [{ports: [{port: 81, protocol: UDP}]}]",
		}, tcp(81, "deny * x/a")),
	}
	for _, protocol := range []corev1.Protocol{corev1.ProtocolUDP, corev1.ProtocolSCTP} {
		probe := func(port int32, expected ...string) upstreamProbe { return upstreamProbe{protocol, port, expected} }
		name := string(protocol) + ": "
		cases[name+"should support a 'default-deny-ingress' policy"] = once("x/a x/b y/a y/b", []string{denyIngress}, probe(80, "deny * x/*"))
		cases[name+"should enforce policy based on Ports"] = once("x/a x/b y/a z/a", []string{
			"x: podSelector: {matchLabels: {pod: a}}, policyTypes: [Ingress], ingress: [{from: " +
				"[{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: 'y'}}}], ports: [{port: 81, protocol: " + string(protocol) + "}]}]",
		}, probe(81, "deny x/* x/a", "deny z/* x/a"))
		cases[name+"should enforce policy to allow traffic only from a pod in a different namespace based on PodSelector and NamespaceSelector"] = once("x/a x/b y/a", []string{
			"x: podSelector: {matchLabels: {pod: a}}, policyTypes: [Ingress], " +
				"ingress: [{from: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: 'y'}}, podSelector: {matchLabels: {pod: a}}}]}]",
		}, probe(80, "deny * x/a", "allow y/a x/a"))
	}
	return cases
}
