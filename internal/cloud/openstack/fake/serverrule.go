package fake

import (
	"encoding/base64"
	"regexp"
	"slices"
	"strings"
)

// metadataKeys is what Nova takes as the key of a metadata item.
func metadataKeys() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z0-9-_:. ]{1,255}$`) }

// serverRule is the schema of the microversion for a new server.
func serverRule(micro int) rule {
	properties := []property{
		{"name", name},
		{"imageRef", anyOf(uuid, allOf(hasType("string"), lengthBetween(0, 0)))},
		{"flavorRef", allOf(hasType("string", "integer"), lengthBetween(1, 255))},
		{"adminPass", hasType("string")},
		{"metadata", metadataRule},
		{"networks", networksRule(micro)},
		{"OS-DCF:diskConfig", allOf(hasType("string"), oneOf("AUTO", "MANUAL"))},
		{"availability_zone", name},
		{"block_device_mapping_v2", arrayOf(deviceRule(micro))},
		{"config_drive", boolean},
		{"key_name", name},
		{"min_count", number(1)},
		{"max_count", number(1)},
		{"security_groups", arrayOf(object(nil, property{"name", name}))},
		{"user_data", allOf(hasType("string"), hasFormat("base64", isBase64), lengthBetween(0, 65535))},
	}
	required := []string{"name", "flavorRef"}
	if micro >= 219 {
		properties = append(properties, property{"description", allOf(hasType("string", "null"), lengthBetween(0, 255))})
	}
	if micro >= 237 {
		required = append(required, "networks")
	}
	if micro >= 252 {
		properties = append(properties, property{"tags", allOf(arrayOf(serverTag), lengthBetween(0, 50))})
	}
	hints := openObject(nil, property{"group", uuid})
	return object([]string{"server"}, property{"server", object(required, properties...)},
		property{"os:scheduler_hints", hints}, property{"OS-SCH-HNT:scheduler_hints", hints})
}

// networksRule demands a list of networks and ports. Since microversion 2.37 it may be a word instead.
func networksRule(micro int) rule {
	network := hasType("string")
	if micro >= 237 {
		network = uuid
	}
	properties := []property{{"fixed_ip", hasType("string")}, {"port", anyOf(uuid, hasType("null"))}, {"uuid", network}}
	if micro >= 242 {
		properties = append(properties, property{"tag", serverTag})
	}
	list := arrayOf(object(nil, properties...))
	if micro < 237 {
		return list
	}
	return anyOf(list, allOf(hasType("string"), oneOf("none", "auto")))
}

// deviceRule demands a disk.
func deviceRule(micro int) rule {
	plain := func(s string) bool { return regexp.MustCompile(`^[a-zA-Z0-9._-]*$`).MatchString(s) }
	properties := []property{
		{"volume_size", volumeSize},
		{"delete_on_termination", boolean},
		{"device_name", text255(1)},
		{"source_type", allOf(hasType("string"), oneOf("volume", "image", "snapshot", "blank"))},
		{"uuid", allOf(text255(1), hasFormat("uuid", plain))},
		{"destination_type", allOf(hasType("string"), oneOf("local", "volume"))},
		{"device_type", text255(0)},
		{"disk_bus", text255(0)},
		{"boot_index", hasType("integer", "string", "null")},
	}
	if micro >= 242 {
		properties = append(properties, property{"tag", serverTag})
	}
	if micro >= 267 {
		properties = append(properties, property{"volume_type", text255(0)})
	}
	return object(nil, properties...)
}

// volumeSize demands at least 1 GiB.
func volumeSize(key string, value any) string {
	if complaint := hasType("integer", "string")(key, value); complaint != "" {
		return complaint
	}
	if s, isText := value.(string); isText && (s == "" || strings.Trim(s, "0123456789") != "") {
		return violation(key, value, "%s does not match '^[0-9]+$'", pythonRepr(value))
	}
	return number(1)(key, value)
}

func isBase64(s string) bool {
	_, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(s), ""))
	return err == nil
}

// metadataRule demands texts under plain keys.
func metadataRule(key string, value any) string { return metadataWith(metadataKeys())(key, value) }

func metadataWith(keys *regexp.Regexp) rule {
	return func(key string, value any) string {
		if complaint := hasType("object")(key, value); complaint != "" {
			return complaint
		}
		items, _ := value.(*dict)
		unfit := []string{}
		for _, k := range items.keys {
			if !keys.MatchString(k) {
				unfit = append(unfit, k)
				continue
			}
			if complaint := text255(0)(k, items.values[k]); complaint != "" {
				return complaint
			}
		}
		slices.Sort(unfit)
		switch len(unfit) {
		case 0:
			return ""
		case 1:
			return violation(key, value, "%s does not match any of the regexes: '%s'", pythonRepr(unfit[0]), keys)
		}
		return violation(key, value, "'%s' do not match any of the regexes: '%s'", strings.Join(unfit, "', '"), keys)
	}
}

// serverTag demands a tag of a server.
func serverTag(key string, value any) string {
	if complaint := allOf(hasType("string"), lengthBetween(1, 60))(key, value); complaint != "" {
		return complaint
	}
	if s, _ := value.(string); strings.ContainsAny(s, ",/") {
		return violation(key, value, "%s does not match '^[^,/]*$'", pythonRepr(value))
	}
	return ""
}
