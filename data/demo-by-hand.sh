# The encoder that codes come from, learnt from auxiliary images; of their labels
# only the list is used: which there are.
sotto train clm --data train-images.idx.gz --labels train-labels.idx.gz \
    --eps {{train_eps}} --d {{code_d}} --temperature {{temperature}} --epochs {{epochs}} --batch {{code_batch}} --seed {{seed}} \
    --name '{{name}}' --campaign demo -o mine-encoder.sotto
# An encoder to {{d}} numbers, to compare with.
sotto train vlm --data train-images.idx.gz --labels train-labels.idx.gz \
    --eps {{train_eps}} --lambda {{train_lambda}} --d {{d}} --hidden {{hidden}} --l {{radius}} --eps-pre {{eps_pre}} \
    --epochs {{numbers_epochs}} --batch {{batch}} --seed {{seed}} --name '{{name}}' --campaign demo \
    -o mine-numbers.sotto
sotto keygen -o mine --no-password
{{#budgets}}
# Epsilon {{eps}}: codes.
sotto train codebook --data train-images.idx.gz --labels train-labels.idx.gz \
    --encoder mine-encoder.sotto --unit --eps {{eps}} --people {{people}} --channel {{channel}} \
    --seed {{seed}} --name '{{name}}' --campaign demo -o mine-codes-{{eps}}.sotto
sotto sign mine-codes-{{eps}}.sotto --key mine.key
sotto privatise mine-codes-{{eps}}.sotto people-images.idx.gz --labels people-labels.idx.gz \
    --pub mine.pub --seed {{seed}} -o mine-codes-{{eps}}.reports
{{#headline}}
# They go to a collector for simulation. The demo's devices have a queue each and
# send as sotto send does, which has real noise alone: here curl sends them all.
mkdir -p mine-campaigns && rm -f mine.db* mine.port
cp mine-codes-{{eps}}.sotto mine-campaigns/{{campaign}}.sotto
cp mine-codes-{{eps}}.sotto.minisig mine-campaigns/{{campaign}}.sotto.minisig
sotto serve --mechanism mine-campaigns --pub mine.pub \
    --store sqlite:mine.db --listen 127.0.0.1:0 --port-file mine.port \
    --simulation --window 1 --batch-min {{people}} &
collector=$!
trap 'kill $collector' EXIT
while [ ! -s mine.port ] && kill -0 $collector; do sleep 0.1; done
curl -sS --fail -H 'Content-Type: application/octet-stream' \
    --data-binary @mine-codes-{{eps}}.reports \
    http://127.0.0.1:"$(cat mine.port)"/v1/campaigns/{{campaign}}/reports
# Released when the window ends, shuffled, with other ids.
until sotto export mine-codes-{{eps}}.sotto --store sqlite:mine.db --simulation \
    -o mine-codes-{{eps}}.released; do
    kill -0 $collector
    sleep 1
done
kill $collector
trap - EXIT
wait $collector
{{/headline}}
sotto fit mine-codes-{{eps}}.sotto {{#headline}}sqlite:mine.db{{/headline}}{{^headline}}mine-codes-{{eps}}.reports{{/headline}} --analyst mine-codes-{{eps}}.analyst \
    --balanced --particles {{particles}} --seed {{seed}} -o mine-codes-{{eps}}.model
sotto evaluate mine-codes-{{eps}}.model --data test-images.idx.gz --labels test-labels.idx.gz
# Numbers; then as if there were no noise.
sotto train vlm --from mine-numbers.sotto --eps {{eps}} --lambda {{lambda}} -o mine-numbers-{{eps}}.sotto
sotto sign mine-numbers-{{eps}}.sotto --key mine.key
sotto privatise mine-numbers-{{eps}}.sotto people-images.idx.gz --labels people-labels.idx.gz \
    --pub mine.pub --seed {{seed}} -o mine-numbers-{{eps}}.reports
sotto fit mine-numbers-{{eps}}.sotto mine-numbers-{{eps}}.reports --analyst mine-numbers.analyst \
    --epochs {{fit_epochs}} --rate {{rate}} --decay {{decay}} --batches {{batches}} --restarts {{restarts}} --share-weight {{share_weight}} \
    --balanced --entropy {{entropy}} --validation 0 --prior-most {{prior}} --seed {{seed}} -o mine-numbers-{{eps}}.model
sotto evaluate mine-numbers-{{eps}}.model --data test-images.idx.gz --labels test-labels.idx.gz
sotto fit mine-numbers-{{eps}}.sotto mine-numbers-{{eps}}.reports --analyst mine-numbers.analyst \
    --objective plain --seed {{seed}} -o mine-plain-{{eps}}.model
sotto evaluate mine-plain-{{eps}}.model --data test-images.idx.gz --labels test-labels.idx.gz
{{/budgets}}
# What a device promises.
sotto inspect mine-codes-{{first_eps}}.sotto
