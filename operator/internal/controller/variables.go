package controller

import (
	"errors"
	"regexp"
	"strings"
)

// ownedVariables are set by the operator; the value says what a person should do instead.
var ownedVariables = map[string]string{
	"datadir":                           "data is always on the volume of spec.storage",
	"port":                              "Services rely on it",
	"bind-address":                      "Services rely on it",
	"socket":                            "leave it out",
	"admin-port":                        "the operator talks to it",
	"admin-address":                     "the operator talks to it",
	"http-port":                         "probes rely on it",
	"http-address":                      "probes rely on it",
	"server-id":                         "it comes from the pod's number",
	"commitd-server-id-from-hostname":   "it comes from the pod's number",
	"require-bootstrap":                 "leave it out",
	"require-role":                      "leave it out",
	"initialize-insecure":               "leave it out",
	"root-password-file":                "use spec.secrets.credentials",
	"operator-password-file":            "use spec.secrets.credentials",
	"replication-password-file":         "use spec.secrets.credentials",
	"ssl-ca":                            "use spec.tls",
	"ssl-cert":                          "use spec.tls",
	"ssl-key":                           "use spec.tls",
	"clone-ssl-ca":                      "use spec.tls",
	"clone-ssl-cert":                    "use spec.tls",
	"clone-ssl-key":                     "use spec.tls",
	"require-secure-transport":          "use spec.tls.requireSecureTransport: before all servers have certificates, the operator and replicas would be refused as well",
	"commitd-built-in-accounts-require": "use spec.tls",
	"commitd-tls-reload-interval":       "use spec.tls",
	"init-rpl-role":                     "roles are given by the operator",
	"read-only":                         "roles are given by the operator",
	"super-read-only":                   "roles are given by the operator",
	"log-bin":                           "the binlog is the only log",
	"sync-binlog":                       "it is 1: what a server acknowledges must survive a loss of power",
	"initialize":                        "leave it out",
	"defaults-file":                     "use spec.engine.variables",
	"defaults-extra-file":               "use spec.engine.variables",
	"defaults-group-suffix":             "use spec.engine.variables",
	"defaults":                          "use spec.engine.variables",
	"restore-binlogs":                   "it would change the contents of volumes",
	"restore-until-gtid":                "it would change the contents of volumes",
	"restore-until-time":                "it would change the contents of volumes",
	"help":                              "leave it out",
	"version":                           "leave it out",
	"validate-config":                   "leave it out",
	"commitd-semi-sync-members":         "the operator keeps the quorum; see status.quorum",
	"commitd-semi-sync-on-timeout":      "use spec.semisync.onTimeout",
	"clone-max-data-bandwidth":          "use spec.clone.maxBandwidth",
}

// spellings are what MySQL's options may begin with without being others.
var spellings = []string{"loose-", "skip-", "no-", "disable-", "enable-", "maximum-"}

var variableName = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)

// checkVariableName: with a = in its name a variable would be another one than it seems.
func checkVariableName(flag string) error {
	if !variableName.MatchString(flag) {
		return errors.New("this is not a name of a system variable: letters, digits, _ and - only")
	}
	if instead, owned := ownedVariable(flag); owned {
		return errors.New("it belongs to the operator: " + instead)
	}
	return nil
}

// ownedVariable says whether a flag belongs to the operator, however it is spelt, and what to use instead.
func ownedVariable(flag string) (string, bool) {
	for _, prefix := range spellings {
		if rest, cut := strings.CutPrefix(flag, prefix); cut {
			if instead, owned := ownedVariable(rest); owned {
				return instead, true
			}
		}
	}
	if strings.HasPrefix(flag, "rpl-semi-sync-") {
		return "use spec.semisync", true
	}
	instead, owned := ownedVariables[flag]
	return instead, owned
}
