#!/usr/bin/env bash
# main.tf by Terraform: apply, a message that fails, a plan with nothing to do, destroy. Against
# $AWS_ENDPOINT_URL; with the provider that Terraform finds on this machine.
set -euo pipefail
cd "$(dirname "$0")"
if ! command -v terraform > /dev/null; then echo "skipped: terraform not found"; exit 0; fi
plugins=""
for place in "${REDRIVE_TF_PLUGINS:-}" ~/.terraform.d/plugins /usr/local/share/terraform/plugins /opt/*plugins*; do
  compgen -G "$place/*/hashicorp/aws" > /dev/null && plugins="$place"
done
if [[ -z "$plugins" ]]; then echo "skipped: terraform's aws provider not found"; exit 0; fi

work="$(mktemp -d)"
trap 'rm -r "$work"' EXIT
export CHECKPOINT_DISABLE=1 TF_IN_AUTOMATION=1 TF_CLI_CONFIG_FILE=/dev/null TF_VAR_endpoint="$AWS_ENDPOINT_URL"
(cd handlers && /usr/bin/python3 -m zipfile -c "$work/lambda_function_payload.zip" ./*.py)
cp main.tf "$work"
cd "$work"
terraform init -no-color -input=false -plugin-dir="$plugins" > init.log || { cat init.log; exit 1; }
terraform apply -no-color -input=false -auto-approve | grep '^Apply complete'
terraform plan -no-color -input=false -detailed-exitcode | grep '^No changes'
terraform destroy -no-color -input=false -auto-approve | grep '^Destroy complete'
