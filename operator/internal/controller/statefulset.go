package controller

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/cluster"
	"commitlab.dev/operator/internal/engine"
)

const (
	containerName = "commitd"
	dataVolume    = "data"
	dataPath      = "/var/lib/commitd"
	secretsVolume = "secrets"
	secretsPath   = "/etc/commitd/secrets"
	runPath       = "/run/commitd"
	httpPort      = int32(8080)
	commitdUID    = int64(999)
	serverIDBase  = 100
	// handoverSeconds are how long a pod that is being deleted serves on: time to move the mastership off it. Then it shuts down.
	handoverSeconds = int64(3)
)

// BuildStatefulSet has the master and the replicas in one set. Pods are replaced by the operator only (OnDelete), so that
// neither a changed template nor a new operator ever restarts a server.
func BuildStatefulSet(c *v1alpha1.CommitCluster, defaultImage string) (*appsv1ac.StatefulSetApplyConfiguration, error) {
	pod, err := podSpec(c, defaultImage)
	if err != nil {
		return nil, err
	}
	configuration, err := configurationOf(c)
	if err != nil {
		return nil, err
	}
	template := corev1ac.PodTemplateSpec().
		WithLabels(objectLabels(c)).
		WithAnnotations(scrapeAnnotations(c)).
		WithAnnotations(map[string]string{v1alpha1.AnnotationConfiguration: configuration.String()}).
		WithSpec(pod)
	return appsv1ac.StatefulSet(c.Name, c.Namespace).
		WithLabels(objectLabels(c)).
		WithOwnerReferences(ownedBy(c)).
		WithSpec(appsv1ac.StatefulSetSpec().
			WithReplicas(podCount(c)).
			WithServiceName(headlessService(c)).
			WithPodManagementPolicy(appsv1.ParallelPodManagement).
			WithUpdateStrategy(appsv1ac.StatefulSetUpdateStrategy().WithType(appsv1.OnDeleteStatefulSetStrategyType)).
			WithSelector(metav1ac.LabelSelector().WithMatchLabels(selectorLabels(c))).
			WithTemplate(template).
			WithVolumeClaimTemplates(volumeClaim(c))), nil
}

// podCount follows spec and record.
func podCount(c *v1alpha1.CommitCluster) int32 {
	return cluster.PodCount(cluster.PolicyOf(c), &c.Status.Record)
}

func scrapeAnnotations(c *v1alpha1.CommitCluster) map[string]string {
	if on := c.Spec.Monitoring.ScrapeAnnotations; on != nil && !*on {
		return nil
	}
	return map[string]string{
		"prometheus.io/scrape": "true",
		"prometheus.io/port":   fmt.Sprint(httpPort),
		"prometheus.io/path":   "/metrics",
	}
}

func volumeClaim(c *v1alpha1.CommitCluster) *corev1ac.PersistentVolumeClaimApplyConfiguration {
	spec := corev1ac.PersistentVolumeClaimSpec().
		WithAccessModes(corev1.ReadWriteOnce).
		WithResources(corev1ac.VolumeResourceRequirements().
			WithRequests(corev1.ResourceList{corev1.ResourceStorage: c.Spec.Storage.Size}))
	if class := c.Spec.Storage.StorageClassName; class != nil {
		spec.WithStorageClassName(*class)
	}
	claim := corev1ac.PersistentVolumeClaim(dataVolume, "").WithLabels(selectorLabels(c)).WithSpec(spec)
	claim.Namespace = nil
	return claim
}

func podSpec(c *v1alpha1.CommitCluster, defaultImage string) (*corev1ac.PodSpecApplyConfiguration, error) {
	container, err := commitdContainer(c, defaultImage)
	if err != nil {
		return nil, err
	}
	spec := corev1ac.PodSpec().
		WithServiceAccountName(c.Name).
		WithAutomountServiceAccountToken(false).
		WithEnableServiceLinks(false).
		WithTerminationGracePeriodSeconds(60).
		WithSecurityContext(corev1ac.PodSecurityContext().
			WithRunAsNonRoot(true).WithRunAsUser(commitdUID).WithRunAsGroup(commitdUID).WithFSGroup(commitdUID).
			WithFSGroupChangePolicy(corev1.FSGroupChangeOnRootMismatch).
			WithSeccompProfile(corev1ac.SeccompProfile().WithType(corev1.SeccompProfileTypeRuntimeDefault))).
		WithContainers(container).
		WithVolumes(
			corev1ac.Volume().WithName(secretsVolume).WithSecret(corev1ac.SecretVolumeSource().
				WithSecretName(startCredentials(c)).WithDefaultMode(0o440).
				WithItems(keyFile(keyOperatorPassword), keyFile(keyReplicationPassword), keyFile(keyRootPassword))),
			corev1ac.Volume().WithName("run").WithEmptyDir(corev1ac.EmptyDirVolumeSource()),
			corev1ac.Volume().WithName("tmp").WithEmptyDir(corev1ac.EmptyDirVolumeSource()))
	for _, s := range c.Spec.ImagePullSecrets {
		spec.WithImagePullSecrets(corev1ac.LocalObjectReference().WithName(s.Name))
	}
	withCertificates(c, spec)
	return spec, schedule(spec, c)
}

// schedule copies what people wrote; by default servers prefer different nodes.
func schedule(spec *corev1ac.PodSpecApplyConfiguration, c *v1alpha1.CommitCluster) error {
	s := c.Spec.Scheduling
	spec.NodeSelector = s.NodeSelector
	if s.PriorityClassName != "" {
		spec.WithPriorityClassName(s.PriorityClassName)
	}
	affinity := s.Affinity
	if affinity == nil {
		affinity = spreadAffinity(c)
	}
	return errors.Join(
		convert(affinity, &spec.Affinity),
		convert(s.Tolerations, &spec.Tolerations),
		convert(s.TopologySpreadConstraints, &spec.TopologySpreadConstraints))
}

func spreadAffinity(c *v1alpha1.CommitCluster) *corev1.Affinity {
	term := corev1.PodAffinityTerm{TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: selectorLabels(c)}}
	return &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
		PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{Weight: 100, PodAffinityTerm: term}},
	}}
}

// convert turns API types into their apply configurations, which have the same JSON.
func convert(from, to any) error {
	data, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, to)
}

func keyFile(key string) *corev1ac.KeyToPathApplyConfiguration {
	return corev1ac.KeyToPath().WithKey(key).WithPath(key)
}

func commitdContainer(c *v1alpha1.CommitCluster, defaultImage string) (*corev1ac.ContainerApplyConfiguration, error) {
	image := c.Spec.Image
	if image == "" {
		image = defaultImage
	}
	args, err := commitdArgs(c)
	if err != nil {
		return nil, err
	}
	container := corev1ac.Container().
		WithName(containerName).
		WithImage(image).
		WithCommand("/usr/bin/commitd").
		WithArgs(args...).
		WithPorts(containerPort("mysql", cluster.MySQLPort), containerPort("admin", cluster.AdminPort), containerPort("http", httpPort)).
		WithLifecycle(corev1ac.Lifecycle().WithPreStop(corev1ac.LifecycleHandler().
			WithSleep(corev1ac.SleepAction().WithSeconds(handoverSeconds)))).
		WithLivenessProbe(httpProbe("/healthz").WithPeriodSeconds(10).WithTimeoutSeconds(5).WithFailureThreshold(6)).
		WithReadinessProbe(httpProbe("/readyz").WithPeriodSeconds(2).WithTimeoutSeconds(2).WithFailureThreshold(2)).
		WithSecurityContext(corev1ac.SecurityContext().
			WithAllowPrivilegeEscalation(false).WithReadOnlyRootFilesystem(true).
			WithCapabilities(corev1ac.Capabilities().WithDrop("ALL"))).
		WithVolumeMounts(
			corev1ac.VolumeMount().WithName(dataVolume).WithMountPath(dataPath),
			corev1ac.VolumeMount().WithName(secretsVolume).WithMountPath(secretsPath).WithReadOnly(true),
			corev1ac.VolumeMount().WithName("run").WithMountPath(runPath),
			corev1ac.VolumeMount().WithName("tmp").WithMountPath("/tmp"))
	if c.Spec.ImagePullPolicy != "" {
		container.WithImagePullPolicy(c.Spec.ImagePullPolicy)
	}
	if len(c.Spec.Resources.Limits)+len(c.Spec.Resources.Requests) > 0 {
		container.WithResources(corev1ac.ResourceRequirements().
			WithLimits(c.Spec.Resources.Limits).WithRequests(c.Spec.Resources.Requests))
	}
	return container, nil
}

func containerPort(name string, number int32) *corev1ac.ContainerPortApplyConfiguration {
	return corev1ac.ContainerPort().WithName(name).WithContainerPort(number).WithProtocol(corev1.ProtocolTCP)
}

func httpProbe(path string) *corev1ac.ProbeApplyConfiguration {
	return corev1ac.Probe().WithHTTPGet(corev1ac.HTTPGetAction().WithPath(path).WithPort(intstr.FromString("http")))
}

// commitdArgs is the command line of engine/CONTROL.md, then what people ask for, in a fixed order.
func commitdArgs(c *v1alpha1.CommitCluster) ([]string, error) {
	args := []string{
		"--datadir=" + dataPath + "/data",
		"--socket=" + runPath + "/commitd.sock",
		// commitd listens on loopback unless told otherwise.
		"--bind-address=0.0.0.0",
		"--admin-address=0.0.0.0",
		"--http-address=0.0.0.0",
		fmt.Sprintf("--commitd-server-id-from-hostname=%d", serverIDBase),
		"--require-bootstrap",
		"--operator-password-file=" + secretsPath + "/" + keyOperatorPassword,
		// An older image does without.
		"--loose-replication-password-file=" + secretsPath + "/" + keyReplicationPassword,
		"--root-password-file=" + secretsPath + "/" + keyRootPassword,
	}
	args = append(args, tlsArgs(c)...)
	if err := checkSemisync(c.Spec.Semisync); err != nil {
		return nil, err
	}
	flags, err := variableFlags(c)
	if err != nil {
		return nil, err
	}
	for _, flag := range slices.Sorted(maps.Keys(flags)) {
		args = append(args, "--"+flag+"="+flags[flag])
	}
	return args, nil
}

// variableFlags are the values that people ask for, by the names of the flags.
func variableFlags(c *v1alpha1.CommitCluster) (map[string]string, error) {
	flags := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(c.Spec.Engine.Variables)) {
		value, err := v1alpha1.VariableFlag(c.Spec.Engine.Variables[name])
		if err != nil {
			return nil, fmt.Errorf("spec.engine.variables.%s: %w", name, err)
		}
		flag := flagName(name)
		if err := checkVariableName(flag); err != nil {
			return nil, fmt.Errorf("spec.engine.variables.%q: %w", name, err)
		}
		if before, twice := flags[flag]; twice && before != value {
			return nil, fmt.Errorf("spec.engine.variables.%q: it is there twice, spelt differently, as %q and %q", name, before, value)
		}
		flags[flag] = value
	}
	if limit := c.Spec.Clone.MaxBandwidth; limit != nil {
		// Every server can be a donor, and counts for itself.
		flags["clone-max-data-bandwidth"] = strconv.FormatInt(max(limit.Value()>>20, 1), 10)
	}
	return flags, nil
}

// checkSemisync refuses what would take from a cluster what it is there for.
func checkSemisync(s v1alpha1.SemisyncSpec) error {
	if s.WaitPoint == "AFTER_COMMIT" {
		return errors.New("spec.semisync.waitPoint: with AFTER_COMMIT a lost master may have shown what its successor lacks, and could not come back as its replica; " +
			"only AFTER_SYNC is possible in a cluster that fails over by itself: leave it out")
	}
	if s.OnTimeout == engine.OnTimeoutAsync && s.Durability == v1alpha1.DurabilityRequired {
		return errors.New("spec.semisync.onTimeout: async acknowledges what no replica may hold, which durability: required rules out; " +
			"set durability: preferred as well, or onTimeout to block or error")
	}
	return nil
}

func flagName(variable string) string {
	return strings.TrimLeft(strings.ReplaceAll(strings.ToLower(strings.TrimSpace(variable)), "_", "-"), "-")
}
