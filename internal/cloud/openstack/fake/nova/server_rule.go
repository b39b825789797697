package nova

import (
	"encoding/base64"
	"regexp"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/cinder"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/schema"
)

// metadataKeys is the pattern of a metadata key.
func metadataKeys() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z0-9-_:. ]{1,255}$`) }

// serverRule is the schema of the microversion for a new server.
func serverRule(micro int) schema.Rule {
	properties := []schema.Property{
		schema.Attribute("name", schema.Name),
		schema.Attribute("imageRef", schema.AnyOf(schema.UUID, schema.AllOf(schema.HasType("string"), schema.LengthBetween(0, 0)))),
		schema.Attribute("flavorRef", schema.AllOf(schema.HasType("string", "integer"), schema.LengthBetween(1, 255))),
		schema.Attribute("adminPass", schema.HasType("string")),
		schema.Attribute("metadata", metadataRule),
		schema.Attribute("networks", networksRule(micro)),
		schema.Attribute("OS-DCF:diskConfig", schema.AllOf(schema.HasType("string"), schema.OneOf("AUTO", "MANUAL"))),
		schema.Attribute("availability_zone", schema.Name),
		schema.Attribute("block_device_mapping_v2", schema.ArrayOf(deviceRule(micro))),
		schema.Attribute("config_drive", schema.Boolean),
		schema.Attribute("key_name", schema.Name),
		schema.Attribute("min_count", schema.Number(1)),
		schema.Attribute("max_count", schema.Number(1)),
		schema.Attribute("security_groups", schema.ArrayOf(schema.Object(nil, schema.Attribute("name", schema.Name)))),
		schema.Attribute("user_data", schema.AllOf(schema.HasType("string"), schema.HasFormat("base64", isBase64), schema.LengthBetween(0, 65535))),
	}
	required := []string{"name", "flavorRef"}
	if micro >= 219 {
		properties = append(properties, schema.Attribute("description", schema.AllOf(schema.HasType("string", "null"), schema.LengthBetween(0, 255))))
	}
	if micro >= 237 {
		required = append(required, "networks")
	}
	if micro >= 252 {
		properties = append(properties, schema.Attribute("tags", schema.AllOf(schema.ArrayOf(serverTag), schema.LengthBetween(0, 50))))
	}
	hints := schema.OpenObject(nil, schema.Attribute("group", schema.UUID))
	return schema.Object([]string{"server"}, schema.Attribute("server", schema.Object(required, properties...)),
		schema.Attribute("os:scheduler_hints", hints), schema.Attribute("OS-SCH-HNT:scheduler_hints", hints))
}

// networksRule requires a list of networks and ports. From microversion 2.37 it may be a string instead.
func networksRule(micro int) schema.Rule {
	network := schema.HasType("string")
	if micro >= 237 {
		network = schema.UUID
	}
	properties := []schema.Property{schema.Attribute("fixed_ip", schema.HasType("string")), schema.Attribute("port", schema.AnyOf(schema.UUID, schema.HasType("null"))), schema.Attribute("uuid", network)}
	if micro >= 242 {
		properties = append(properties, schema.Attribute("tag", serverTag))
	}
	list := schema.ArrayOf(schema.Object(nil, properties...))
	if micro < 237 {
		return list
	}
	return schema.AnyOf(list, schema.AllOf(schema.HasType("string"), schema.OneOf("none", "auto")))
}

// deviceRule requires a disk.
func deviceRule(micro int) schema.Rule {
	plain := func(s string) bool { return regexp.MustCompile(`^[a-zA-Z0-9._-]*$`).MatchString(s) }
	properties := []schema.Property{
		schema.Attribute("volume_size", cinder.VolumeSize),
		schema.Attribute("delete_on_termination", schema.Boolean),
		schema.Attribute("device_name", schema.Text255(1)),
		schema.Attribute("source_type", schema.AllOf(schema.HasType("string"), schema.OneOf("volume", "image", "snapshot", "blank"))),
		schema.Attribute("uuid", schema.AllOf(schema.Text255(1), schema.HasFormat("uuid", plain))),
		schema.Attribute("destination_type", schema.AllOf(schema.HasType("string"), schema.OneOf("local", "volume"))),
		schema.Attribute("device_type", schema.Text255(0)),
		schema.Attribute("disk_bus", schema.Text255(0)),
		schema.Attribute("boot_index", schema.HasType("integer", "string", "null")),
	}
	if micro >= 242 {
		properties = append(properties, schema.Attribute("tag", serverTag))
	}
	if micro >= 267 {
		properties = append(properties, schema.Attribute("volume_type", schema.Text255(0)))
	}
	return schema.Object(nil, properties...)
}

func isBase64(s string) bool {
	_, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(s), ""))
	return err == nil
}

// metadataRule requires strings under plain keys.
func metadataRule(key string, value any) string {
	return cinder.MetadataWith(metadataKeys())(key, value)
}

// serverTag requires a tag of a server.
func serverTag(key string, value any) string {
	if complaint := schema.AllOf(schema.HasType("string"), schema.LengthBetween(1, 60))(key, value); complaint != "" {
		return complaint
	}
	if s, _ := value.(string); strings.ContainsAny(s, ",/") {
		return schema.Violation(key, value, "%s does not match '^[^,/]*$'", schema.PythonRepr(value))
	}
	return ""
}
