package octavia

import (
	"slices"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
)

// partKind is a kind of the load balancers' parts in the API.
type partKind struct {
	octaviaBody
	many  string // the key around a list
	path  string // below /lbaas; {parent} is what a part lies in
	title string // in messages
	quota string
	// listedBy are filters of a list besides the attributes.
	listedBy []string
}

// The kinds of parts.
const (
	kindListener      = "listener"
	kindPool          = "pool"
	kindMember        = "member"
	kindHealthMonitor = "healthmonitor"
	kindPolicy        = "l7policy"
	kindRule          = "rule"
)

func partKinds() []*partKind {
	return []*partKind{
		{
			octaviaBody: octaviaBody{key: kindListener, argument: "listener_", attributes: listenerAttributes()},
			many:        "listeners", path: "/listeners", title: "Listener", quota: "listener",
			listedBy: []string{"loadbalancer_id", "load_balancer_id"},
		},
		{
			octaviaBody: octaviaBody{key: kindPool, argument: "pool_", attributes: poolAttributes()},
			many:        "pools", path: "/pools", title: "Pool", quota: "pool",
			listedBy: []string{"loadbalancer_id", "load_balancer_id"},
		},
		{
			octaviaBody: octaviaBody{key: kindMember, argument: "member_", attributes: memberAttributes()},
			many:        "members", path: "/pools/{parent}/members", title: "Member", quota: "member",
		},
		{
			octaviaBody: octaviaBody{key: kindHealthMonitor, argument: "health_monitor_", attributes: monitorAttributes()},
			many:        "healthmonitors", path: "/healthmonitors", title: "Health Monitor", quota: "healthmonitor",
			listedBy: []string{"pool_id"},
		},
		{
			octaviaBody: octaviaBody{key: kindPolicy, argument: "l7policy_", attributes: policyAttributes()},
			many:        "l7policies", path: "/l7policies", title: "L7 Policy", quota: "l7policy",
		},
		{
			octaviaBody: octaviaBody{key: kindRule, argument: "rule_", attributes: ruleAttributes()},
			many:        "rules", path: "/l7policies/{parent}/rules", title: "L7 Rule", quota: "l7rule",
		},
	}
}

// pathTitle is a kind's name in errors about a path.
func pathTitle(kind string) string {
	if kind == kindPolicy {
		return "L7Policy"
	}
	return "Pool"
}

func balancerBody() octaviaBody {
	return octaviaBody{key: "loadbalancer", argument: "load_balancer", attributes: slices.Concat(commonAttributes(), []octaviaAttribute{
		{name: "description"},
		{name: "vip_address", is: octaviaAddress, fixed: true},
		{name: "vip_port_id", is: octaviaUUID, fixed: true},
		{name: "vip_subnet_id", is: octaviaUUID, fixed: true},
		{name: "vip_network_id", is: octaviaUUID, fixed: true},
		{name: "vip_qos_policy_id", is: octaviaUUID},
		{name: "additional_vips", is: octaviaObjects, fixed: true, of: []octaviaAttribute{
			{name: "subnet_id", is: octaviaUUID, required: true}, {name: "ip_address", is: octaviaAddress},
		}},
		{name: "listeners", is: octaviaObjects, fixed: true, of: within(listenerAttributes(), "loadbalancer_id")},
		{name: "pools", is: octaviaObjects, fixed: true, of: poolsWithin()},
		{name: "provider", fixed: true},
		{name: "flavor_id", is: octaviaUUID, fixed: true},
		{name: "availability_zone", fixed: true},
	})}
}

// within are the attributes of a part that is created together with the one that contains it, without a reference to that.
func within(attributes []octaviaAttribute, parents ...string) []octaviaAttribute {
	return core.Without(attributes, func(a octaviaAttribute) bool {
		return slices.Contains(parents, a.name) || a.name == "project_id" || a.name == "tenant_id"
	})
}

// poolsWithin are the attributes of a pool that is created together with its load balancer. It may be a name, of a pool elsewhere in the body.
func poolsWithin() []octaviaAttribute {
	attributes := within(poolAttributes(), "loadbalancer_id", "listener_id")
	for i := range attributes {
		attributes[i].required = false
	}
	return attributes
}

// commonAttributes are those of all kinds.
func commonAttributes() []octaviaAttribute {
	return []octaviaAttribute{
		{name: "name", fallback: ""},
		{name: "admin_state_up", is: octaviaFlag, fallback: true},
		{name: "project_id", fixed: true, hidden: true},
		{name: "tenant_id", fixed: true, hidden: true},
		{name: "tags", is: octaviaTexts, fallback: []string{}},
	}
}

// tlsAttributes are attributes of TLS, which the fake does not use.
func tlsAttributes() []octaviaAttribute {
	return []octaviaAttribute{
		{name: "tls_ciphers"},
		{name: "tls_versions", is: octaviaTexts},
		{name: "alpn_protocols", is: octaviaTexts},
	}
}

func listenerAttributes() []octaviaAttribute {
	return slices.Concat(commonAttributes(), []octaviaAttribute{
		{name: "description", fallback: ""},
		{name: "protocol", required: true, fixed: true, choices: []string{"HTTP", "HTTPS", "PROMETHEUS", "SCTP", "TCP", "TERMINATED_HTTPS", "UDP"}},
		{name: "protocol_port", is: octaviaPort, required: true, fixed: true},
		{name: "loadbalancer_id", is: octaviaUUID, required: true, fixed: true, hidden: true},
		{name: "connection_limit", is: octaviaNumber, fallback: -1},
		{name: "default_tls_container_ref"},
		{name: "sni_container_refs", is: octaviaTexts, fallback: []string{}},
		{name: "default_pool_id", is: octaviaUUID},
		{name: "default_pool", is: octaviaObject, fixed: true, hidden: true, of: poolsWithin()},
		{name: "l7policies", is: octaviaObjects, fixed: true, hidden: true},
		{name: "insert_headers", is: octaviaObject, fallback: map[string]any{}},
		{name: "timeout_client_data", is: octaviaNumber, fallback: 50000},
		{name: "timeout_member_connect", is: octaviaNumber, fallback: 5000},
		{name: "timeout_member_data", is: octaviaNumber, fallback: 50000},
		{name: "timeout_tcp_inspect", is: octaviaNumber, fallback: 0},
		{name: "client_ca_tls_container_ref"},
		{name: "client_authentication", fallback: "NONE"},
		{name: "client_crl_container_ref"},
		{name: "allowed_cidrs", is: octaviaTexts},
	}, tlsAttributes())
}

func poolAttributes() []octaviaAttribute {
	return slices.Concat(commonAttributes(), []octaviaAttribute{
		{name: "description", fallback: ""},
		{name: "listener_id", is: octaviaUUID, fixed: true, hidden: true},
		{name: "loadbalancer_id", is: octaviaUUID, fixed: true, hidden: true},
		{name: "protocol", required: true, fixed: true, choices: []string{"HTTP", "HTTPS", "PROXY", "PROXYV2", "SCTP", "TCP", "UDP"}},
		{name: "lb_algorithm", required: true, choices: []string{"LEAST_CONNECTIONS", "ROUND_ROBIN", "SOURCE_IP", "SOURCE_IP_PORT"}},
		{name: "session_persistence", is: octaviaObject},
		{name: "healthmonitor", is: octaviaObject, fixed: true, hidden: true, of: within(monitorAttributes(), "pool_id")},
		{name: "members", is: octaviaObjects, fixed: true, hidden: true, of: within(memberAttributes())},
		{name: "tls_container_ref"},
		{name: "ca_tls_container_ref"},
		{name: "crl_container_ref"},
		{name: "tls_enabled", is: octaviaFlag, fallback: false},
	}, tlsAttributes())
}

func memberAttributes() []octaviaAttribute {
	return slices.Concat(commonAttributes(), []octaviaAttribute{
		{name: "address", is: octaviaAddress, required: true, fixed: true},
		{name: "protocol_port", is: octaviaPort, required: true, fixed: true},
		{name: "weight", is: octaviaNumber, fallback: 1},
		{name: "backup", is: octaviaFlag, fallback: false},
		{name: "subnet_id", is: octaviaUUID, fixed: true},
		{name: "monitor_address", is: octaviaAddress},
		{name: "monitor_port", is: octaviaPort},
	})
}

func monitorAttributes() []octaviaAttribute {
	return slices.Concat(commonAttributes(), []octaviaAttribute{
		{name: "type", required: true, fixed: true, choices: []string{"HTTP", "HTTPS", "PING", "SCTP", "TCP", "TLS-HELLO", "UDP-CONNECT"}},
		{name: "delay", is: octaviaNumber, required: true},
		{name: "timeout", is: octaviaNumber, required: true},
		{name: "max_retries", is: octaviaNumber, required: true},
		{name: "max_retries_down", is: octaviaNumber, fallback: 3},
		{name: "http_method"},
		{name: "url_path"},
		{name: "expected_codes"},
		{name: "http_version", is: octaviaNumber},
		{name: "domain_name"},
		{name: "pool_id", is: octaviaUUID, required: true, fixed: true, hidden: true},
	})
}

func policyAttributes() []octaviaAttribute {
	return slices.Concat(commonAttributes(), []octaviaAttribute{
		{name: "description", fallback: ""},
		{name: "action", required: true, choices: []string{"REDIRECT_PREFIX", "REDIRECT_TO_POOL", "REDIRECT_TO_URL", "REJECT"}},
		{name: "listener_id", is: octaviaUUID, required: true, fixed: true},
		{name: "redirect_pool_id", is: octaviaUUID},
		{name: "redirect_url"},
		{name: "redirect_prefix"},
		{name: "redirect_http_code", is: octaviaNumber},
		{name: "position", is: octaviaNumber},
		{name: "rules", is: octaviaObjects, fixed: true, hidden: true},
	})
}

func ruleAttributes() []octaviaAttribute {
	nameless := core.Without(commonAttributes(), func(a octaviaAttribute) bool { return a.name == "name" })
	return slices.Concat(nameless, []octaviaAttribute{
		{name: "type", required: true, choices: []string{
			"COOKIE", "FILE_TYPE", "HEADER", "HOST_NAME", "PATH", "SSL_CONN_HAS_CERT", "SSL_DN_FIELD", "SSL_VERIFY_RESULT",
		}},
		{name: "compare_type", required: true, choices: []string{"CONTAINS", "ENDS_WITH", "EQUAL_TO", "REGEX", "STARTS_WITH"}},
		{name: "key"},
		{name: "value", required: true},
		{name: "invert", is: octaviaFlag, fallback: false},
	})
}
