package recovery

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/cluster"
	"commitlab.dev/operator/internal/controller"
	"commitlab.dev/operator/internal/recovery/ledger"
)

const (
	journalPath = "/var/lib/ledger"
	ledgerUID   = int64(65532)

	defaultJournalSize = "1Gi"
)

func ledgerName(t *v1alpha1.RecoveryTest) string  { return t.Name + "-ledger" }
func historyName(t *v1alpha1.RecoveryTest) string { return t.Name + "-history" }

func objectMeta(t *v1alpha1.RecoveryTest, name, app string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: t.Namespace, Name: name,
		Labels: map[string]string{
			"app.kubernetes.io/name":       app,
			"app.kubernetes.io/managed-by": controller.FieldOwner,
			v1alpha1.LabelRecoveryTest:     t.Name,
			v1alpha1.LabelCluster:          t.Spec.Cluster.Name,
		},
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(t, v1alpha1.GroupVersion.WithKind("RecoveryTest"))},
	}
}

// BuildClaim is the volume of the journal.
func BuildClaim(t *v1alpha1.RecoveryTest) *corev1.PersistentVolumeClaim {
	storage, size := t.Spec.Workload.Storage, resource.MustParse(defaultJournalSize)
	if storage.Size != nil {
		size = *storage.Size
	}
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: objectMeta(t, ledgerName(t), "ledger"),
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes:      []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			StorageClassName: storage.StorageClassName,
			Resources:        corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: size}},
		},
	}
}

// BuildLedger is the pod of the load. A ledger that is killed goes on with its journal, so it is started again whatever ended it.
func BuildLedger(t *v1alpha1.RecoveryTest, c *v1alpha1.CommitCluster, defaultImage string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: objectMeta(t, ledgerName(t), "ledger")}
	yes, no, uid, grace := true, false, ledgerUID, int64(2)
	image := t.Spec.Workload.Image
	if image == "" {
		image = defaultImage
	}
	pod.Spec = corev1.PodSpec{
		RestartPolicy:                 corev1.RestartPolicyAlways,
		AutomountServiceAccountToken:  &no,
		EnableServiceLinks:            &no,
		TerminationGracePeriodSeconds: &grace,
		SecurityContext: &corev1.PodSecurityContext{RunAsNonRoot: &yes, RunAsUser: &uid, RunAsGroup: &uid, FSGroup: &uid,
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}},
		Volumes: []corev1.Volume{{Name: "journal", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: ledgerName(t)}}}},
		Containers: []corev1.Container{{
			Name:            "ledger",
			Image:           image,
			ImagePullPolicy: corev1.PullIfNotPresent,
			Command:         []string{"/usr/bin/ledger"},
			Args:            ledgerArgs(t, c),
			Env:             ledgerEnv(c),
			Ports:           []corev1.ContainerPort{{Name: "http", ContainerPort: ledger.Port}},
			VolumeMounts:    []corev1.VolumeMount{{Name: "journal", MountPath: journalPath}},
			SecurityContext: &corev1.SecurityContext{AllowPrivilegeEscalation: &no, ReadOnlyRootFilesystem: &yes,
				Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}},
		}},
	}
	return pod
}

// ledgerArgs names every server: what a look-up returns might be fewer. User and password are those of LEDGER_DSN; the ledger refuses
// a password that stands on its command line.
func ledgerArgs(t *v1alpha1.RecoveryTest, c *v1alpha1.CommitCluster) []string {
	args := []string{
		"run",
		"--file=" + journalPath + "/journal",
		"--run=" + t.Status.Run,
		fmt.Sprintf("--accounts=%d", t.Spec.Workload.Accounts),
		fmt.Sprintf("--writers=%d", t.Spec.Workload.Writers),
		"--pause=" + pause(t.Spec.Workload).String(),
		fmt.Sprintf("--http=:%d", ledger.Port),
		"--linger=24h",
		"--json",
	}
	for ordinal := range c.Spec.Replicas + 1 {
		name := fmt.Sprintf("%s-%d", c.Name, ordinal)
		args = append(args, fmt.Sprintf("--server=%s=tcp(%s.%s:%d)/$(DB_NAME)", name, name, c.Name, cluster.MySQLPort))
	}
	return args
}

// pause is how long each writer rests so that all together stay below the rate.
func pause(w v1alpha1.WorkloadSpec) time.Duration {
	if w.CommitsPerSecond == nil {
		return 0
	}
	return time.Duration(w.Writers) * time.Second / time.Duration(*w.CommitsPerSecond)
}

func ledgerEnv(c *v1alpha1.CommitCluster) []corev1.EnvVar {
	secret := corev1.LocalObjectReference{Name: controller.AppSecretName(c)}
	env := []corev1.EnvVar{}
	for _, v := range []struct{ name, key string }{{"DB_USER", "username"}, {"DB_PASSWORD", "password"}, {"DB_NAME", "database"}} {
		env = append(env, corev1.EnvVar{Name: v.name, ValueFrom: &corev1.EnvVarSource{
			SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: secret, Key: v.key}}})
	}
	dsn := fmt.Sprintf("$(DB_USER):$(DB_PASSWORD)@tcp(%s-master:%d)/$(DB_NAME)", c.Name, cluster.MySQLPort)
	if c.Spec.TLS != nil {
		dsn += "?tls=preferred"
	}
	return append(env, corev1.EnvVar{Name: "LEDGER_DSN", Value: dsn})
}
