package elb

import (
	"maps"
	"strconv"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/protocol"
)

// attributes are the attributes of a target group of a network load balancer, with those that were set: the client's address is not kept for addresses as
// targets behind TCP and TLS, and connections to targets that leave end with UDP only.
func (t *targetGroup) attributes() map[string]string {
	kind, transport := t.settings.String("TargetType"), t.settings.String("Protocol")
	isUDP := transport == "UDP" || transport == "TCP_UDP"
	attributes := map[string]string{
		"deregistration_delay.timeout_seconds":                                           "300",
		"deregistration_delay.connection_termination.enabled":                            strconv.FormatBool(isUDP),
		"load_balancing.cross_zone.enabled":                                              "use_load_balancer_configuration",
		"preserve_client_ip.enabled":                                                     strconv.FormatBool(kind != "ip" || isUDP),
		"proxy_protocol_v2.enabled":                                                      "false",
		"stickiness.enabled":                                                             "false",
		"stickiness.type":                                                                "source_ip",
		"target_group_health.dns_failover.minimum_healthy_targets.count":                 "off",
		"target_group_health.dns_failover.minimum_healthy_targets.percentage":            "off",
		"target_group_health.unhealthy_state_routing.minimum_healthy_targets.count":      "1",
		"target_group_health.unhealthy_state_routing.minimum_healthy_targets.percentage": "off",
		"target_health_state.unhealthy.connection_termination.enabled":                   "true",
		"target_health_state.unhealthy.draining_interval_seconds":                        "0",
	}
	maps.Copy(attributes, t.changedAttributes)
	return attributes
}

func describeTargetAttributes(t *targetGroup, _ *core.Request) (protocol.Struct, error) {
	return protocol.Struct{"Attributes": tagList(t.attributes())}, nil
}

// modifyTargetAttributes changes all attributes of the request or none, and returns those of the request. Values are not checked.
func modifyTargetAttributes(t *targetGroup, q *core.Request) (protocol.Struct, error) {
	known, changed := t.attributes(), map[string]string{}
	for _, attribute := range q.In.Structs("Attributes") {
		key := attribute.String("Key")
		if _, is := known[key]; !is {
			return nil, core.NotImplemented("attribute " + key + " of target groups")
		}
		changed[key] = attribute.String("Value")
	}
	if t.changedAttributes == nil {
		t.changedAttributes = map[string]string{}
	}
	maps.Copy(t.changedAttributes, changed)
	return protocol.Struct{"Attributes": tagList(changed)}, nil
}
