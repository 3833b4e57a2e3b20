package manifest

import "testing"

func TestBodyIssues(t *testing.T) {
	runIssues(t, map[string]issueCase{
		"DuplicateKey": {
			reason: "the second value would win silently",
			yaml:   account + "body:\n  location: westus2\n  properties:\n    a: 1\n    a: 2\n",
			want:   "m.yaml:8:5: body.properties.a: duplicate key, first in line 7; remove one",
		},
		"Hex": {
			reason: "JSON has no hexadecimal numbers",
			yaml:   account + "body: {a: 0x10, b: 017, c: 1_000, d: .5, e: 0o7}\n",
			want: "m.yaml:4:11: body.a: \"0x10\" is not a valid JSON number; write it in decimal digits, or in quotes if it is a text\n" +
				"m.yaml:4:20: body.b: \"017\" is not a valid JSON number; write it in decimal digits, or in quotes if it is a text\n" +
				"m.yaml:4:28: body.c: \"1_000\" is not a valid JSON number; write it in decimal digits, or in quotes if it is a text\n" +
				"m.yaml:4:38: body.d: \".5\" is not a valid JSON number; write it in decimal digits, or in quotes if it is a text\n" +
				"m.yaml:4:45: body.e: \"0o7\" is not a valid JSON number; write it in decimal digits, or in quotes if it is a text",
		},
		"NaN": {
			reason: "JSON has no NaN and no infinity",
			yaml:   account + "body: {a: .nan, b: -.inf}\n",
			want: "m.yaml:4:11: body.a: \".nan\" is not a valid JSON number; write it in decimal digits, or in quotes if it is a text\n" +
				"m.yaml:4:20: body.b: \"-.inf\" is not a valid JSON number; write it in decimal digits, or in quotes if it is a text",
		},
		"Range": {
			reason: "a number out of range",
			yaml:   account + "body: {a: 1e999}\n",
			want:   "m.yaml:4:11: body.a: \"1e999\" is a number out of range; write it in quotes if it is a text",
		},
		"SecretNumber": {
			reason: "an error does not show the digits of a password",
			yaml:   account + "body: {adminPassword: 0x1234, token: 1234}\n",
			want: "m.yaml:4:23: body.adminPassword: is not a valid JSON number; write it in decimal digits, or in quotes if it is a text\n" +
				"m.yaml:4:38: body.token: is a literal secret; write {$secret: env:NAME} or {$secret: file:NAME}, or {$plain: VALUE} if it is none",
		},
		"Tag": {
			reason: "JSON has none of YAML's own types",
			yaml:   account + "body: {a: !!binary aGk=, b: !foo x}\n",
			want: "m.yaml:4:11: body.a: has the YAML tag !!binary; only plain values are allowed; remove the tag\n" +
				"m.yaml:4:29: body.b: has the YAML tag !foo; only plain values are allowed; remove the tag",
		},
		"KeyList": {
			reason: "a key is a text",
			yaml:   account + "body:\n  ? [a]\n  : b\n  ~: c\n",
			want: "m.yaml:5:5: body: a key is a list; keys must be texts: put it in quotes\n" +
				"m.yaml:7:3: body: a key is empty; keys must be texts: put it in quotes",
		},
		"LiteralSecret": {
			reason: "a password in a manifest ends up in histories",
			yaml:   account + "body:\n  properties:\n    administratorLoginPassword: hunter22\n    keys: [hunter22]\n    secrets: [{name: a, value: hunter22}]\n    env:\n      - {name: DB_PASSWORD, value: hunter22}\n",
			want: "m.yaml:6:33: body.properties.administratorLoginPassword: is a literal secret; write {$secret: env:NAME} or {$secret: file:NAME}, or {$plain: VALUE} if it is none\n" +
				"m.yaml:7:12: body.properties.keys[0]: is a literal secret; write {$secret: env:NAME} or {$secret: file:NAME}, or {$plain: VALUE} if it is none\n" +
				"m.yaml:8:32: body.properties.secrets[name=a].value: is a literal secret; write {$secret: env:NAME} or {$secret: file:NAME}, or {$plain: VALUE} if it is none\n" +
				"m.yaml:10:36: body.properties.env[name=DB_PASSWORD].value: is a literal secret; write {$secret: env:NAME} or {$secret: file:NAME}, or {$plain: VALUE} if it is none",
		},
		"SecretTags": {
			reason: "tags are public",
			yaml:   account + "body: {tags: {a: {$secret: env:X}}}\n",
			want:   "m.yaml:4:18: body.tags.a: $secret is not allowed under tags, which is public; move it elsewhere",
		},
		"SecretName": {
			reason: "names and locations are public",
			yaml:   account + "body: {location: {$secret: env:X}, properties: {name: {$secret: env:X}}}\n",
			want: "m.yaml:4:18: body.location: $secret is not allowed under location, which is public; move it elsewhere\n" +
				"m.yaml:4:55: body.properties.name: $secret is not allowed under name, which is public; move it elsewhere",
		},
		"SecretVault": {
			reason: "keyvault: takes the identifier of a secret; the found text may be a secret, so it is not repeated",
			yaml:   account + "body: {a: {$secret: 'keyvault:hunter22'}}\n",
			want:   "m.yaml:4:11: body.a: $secret: keyvault: needs the identifier of a secret; write it like keyvault:https://VAULT.vault.azure.net/secrets/NAME, followed by /VERSION to pin a version",
		},
		"SecretSource": {
			reason: "the text may be the secret itself, so it is not repeated",
			yaml:   account + "body: {a: {$secret: hunter22}, b: {$secret: 5}}\n",
			want: "m.yaml:4:11: body.a: $secret names no source; write env:NAME, file:NAME or keyvault:https://VAULT/secrets/NAME\n" +
				"m.yaml:4:35: body.b: $secret: found a number; write env:NAME, file:NAME or keyvault:https://VAULT/secrets/NAME",
		},
		"SecretEnv": {
			reason: "env: takes the name of a variable",
			yaml:   account + "body: {a: {$secret: 'env:A B'}}\n",
			want:   "m.yaml:4:11: body.a: $secret: env: needs the name of an environment variable: letters, digits and _; write it like env:ARMATURE_SECRET_X",
		},
		"SecretFile": {
			reason: "a file outside of the folder",
			yaml:   account + "body: {a: {$secret: 'file:../x'}, b: {$secret: 'file:/etc/passwd'}}\n",
			want: "m.yaml:4:11: body.a: $secret: file: needs a path inside the worker's folder of secrets: relative and without ..; write it like file:db/password\n" +
				"m.yaml:4:38: body.b: $secret: file: needs a path inside the worker's folder of secrets: relative and without ..; write it like file:db/password",
		},
		"SecretBeside": {
			reason: "other properties of a marker would be lost",
			yaml:   account + "body: {a: {$secret: env:X, b: c}}\n",
			want:   "m.yaml:4:11: body.a: $secret must be the only property; remove the others",
		},
		"RefUnknown": {
			reason: "a reference to an unknown manifest",
			yaml:   account + "body: {a: {$ref: acd}}\n",
			want:   "m.yaml:4:18: body.a: $ref: no manifest is named \"acd\"; did you mean acc?",
		},
		"RefNoID": {
			reason: "a reference that is not an ID",
			yaml:   account + "body: {a: {$ref: /x}}\n",
			want:   "m.yaml:4:18: body.a: parse resource ID \"/x\": it is not an ARM resource ID; write it like /subscriptions/<GUID>/resourceGroups/<name>/providers/<provider>/<type>/<name>",
		},
		"RefVersion": {
			reason: "a reference that cannot be read",
			yaml:   account + "body: {a: {$ref: /providers/Microsoft.Billing/billingAccounts/a}}\n",
			want:   "m.yaml:4:18: body.a: $ref: the api-version of /providers/Microsoft.Billing/billingAccounts/a is unknown; write /providers/Microsoft.Billing/billingAccounts/a@<api-version>",
		},
		"RefBeside": {
			reason: "$ref allows path as the only other property",
			yaml:   account + "body: {a: {$ref: acc, pth: x}}\n",
			want:   "m.yaml:4:23: body.a: $ref allows only path beside it; remove \"pth\"",
		},
		"RefPath": {
			reason: "a path must be valid",
			yaml:   account + "body: {a: {$ref: " + group + ", path: 'a['}, b: {$ref: " + group + ", path: 5}, c: {$ref: 5}}\n",
			want: "m.yaml:4:94: body.a: parse path \"a[\": [ is not closed by ]; write it like a.b, list[*].c, list[name=x].c or tags['a.b/c']\n" +
				"m.yaml:4:187: body.b: path: found a number; write a text like properties.x\n" +
				"m.yaml:4:194: body.c: $ref: found a number; write the name of a manifest or a resource ID",
		},
		"RefCycle": {
			reason: "resources that need each other have no order",
			yaml:   account + "body: {a: {$ref: v}}\n---\ntype: Microsoft.Network/virtualNetworks@2020-11-01\nname: v\nowner: " + group + "\nbody: {a: {$ref: acc}}\n",
			want:   "m.yaml:9:18: body.a: owners, references and dependsOn form a cycle: acc -> v -> acc; remove one of these",
		},
		"TextCycle": {
			reason: "a value inside a text is a reference like any other",
			yaml:   account + "body: {a: {$text: 'x-${ref.v.properties.b}'}}\n---\ntype: Microsoft.Network/virtualNetworks@2020-11-01\nname: v\nowner: " + group + "\nbody: {a: {$text: 'y-${ref.acc.properties.b}'}}\n",
			want:   "m.yaml:9:11: body.a: owners, references and dependsOn form a cycle: acc -> v -> acc; remove one of these",
		},
		"TextSelf": {
			reason: "a resource cannot wait for its own value",
			yaml:   account + "body: {a: {$text: 'x-${ref.acc.properties.b}'}}\n",
			want:   "m.yaml:4:11: body.a: $text: acc is this resource itself and cannot be its own dependency; write the resource ID as plain text",
		},
		"RefSelf": {
			reason: "a resource cannot wait for itself",
			yaml:   account + "body: {a: {$ref: acc}}\n",
			want:   "m.yaml:4:18: body.a: $ref: acc is this resource itself and cannot be its own dependency; write the resource ID as plain text",
		},
		"RefChild": {
			reason: "an owner cannot wait for its child",
			yaml:   "type: Microsoft.Network/virtualNetworks@2020-11-01\nname: v\nowner: " + group + "\nbody: {a: {$ref: s}}\n---\ntype: Microsoft.Network/virtualNetworks/subnets@2020-11-01\nname: s\nowner: v\nbody: {}\n",
			want:   "m.yaml:4:18: body.a: $ref: s is a child of v and cannot come first; write the resource ID as plain text",
		},
		"RefAmbiguous": {
			reason: "two manifests have the name",
			yaml:   account + "body: {a: {$ref: x}}\n---\ntype: Microsoft.Network/virtualNetworks@2020-11-01\nname: x\nowner: " + group + "\nbody: {}\n---\ntype: Microsoft.Network/routeTables@2020-11-01\nname: x\nowner: " + group + "\nbody: {}\n",
			want:   "m.yaml:4:18: body.a: $ref: \"x\" is the name of 2 manifests (m.yaml:6, m.yaml:11); write group/name, owner/name or the resource ID",
		},
		"Inline": {
			reason: "the manifests of the network and of the subnet would overwrite each other",
			yaml:   "type: Microsoft.Network/virtualNetworks@2020-11-01\nname: v\nowner: " + group + "\nbody:\n  properties:\n    subnets:\n      - name: other\n      - name: S\n        properties: {}\n---\ntype: Microsoft.Network/virtualNetworks/subnets@2020-11-01\nname: s\nowner: v\nbody: {}\n",
			want:   "m.yaml:8:9: body.properties.subnets[name=S]: defines v/s inline, which the manifest in m.yaml:11 also defines; keep one of the two",
		},
		"InlineProfiles": {
			reason: "lists with the singular name and Profiles count too",
			yaml:   "type: Microsoft.ContainerService/managedClusters@2023-02-01\nname: c\nowner: " + group + "\nbody: {properties: {agentPoolProfiles: [{name: p}]}}\n---\ntype: Microsoft.ContainerService/managedClusters/agentPools@2023-02-01\nname: p\nowner: c\nbody: {}\n",
			want:   "m.yaml:4:41: body.properties.agentPoolProfiles[name=p]: defines c/p inline, which the manifest in m.yaml:6 also defines; keep one of the two",
		},
		"Identity": {
			reason: "a body copied from another resource",
			yaml:   account + "body: {id: /x, name: other, type: Microsoft.Web/sites}\n",
			want: "m.yaml:4:12: body.id: conflicts with the manifest, which states " + group + "/providers/Microsoft.Storage/storageAccounts/acc; remove it\n" +
				"m.yaml:4:22: body.name: conflicts with the manifest, which states acc; remove it\n" +
				"m.yaml:4:35: body.type: conflicts with the manifest, which states Microsoft.Storage/storageAccounts; remove it",
		},
		"Merge": {
			reason: "a merge key takes mappings",
			yaml:   account + "body: {<<: [5]}\n",
			want:   "m.yaml:4:12: body: the merge key << contains a number; it needs a mapping or a list of mappings, for example <<: *name",
		},
		"Bomb": {
			reason: "aliases must not expand without limit",
			yaml:   "type: A.B/c@2020-01-01\na: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\n",
			want:   "m.yaml:2:14: f[1][5][2][3][1][3]: the document contains more than 200000 values after expanding its aliases; split it, or use fewer aliases",
		},
		"SelfAlias": {
			reason: "an alias inside its anchor never ends",
			yaml:   account + "body: &b {a: *b}\n",
			want:   "m.yaml:4:7: body.a.a: values are nested deeper than 100 levels, or an alias contains itself; flatten it, or remove the alias",
		},
	})
}
